// Implements sqlite3_vfs, an interface of C: each function finds its object behind the pointer that
// it is given.
// SPDX-License-Identifier: Apache-2.0
#include "tests/reliability/lossy_disk.hpp"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include <sqlite3.h>

namespace kiln::test {

struct LossyDisk::Vfs {
  using Kind = Operation::Kind;
  using Offset = sqlite3_int64;

  /// An open file; the real one lies behind it in the same memory.
  struct OpenFile {
    sqlite3_file base;
    Vfs* vfs;
    int number;     // of the file; 0: a temporary one, which no loss of power concerns
    bool new_name;  // the folder is synced with the file's first sync

    static OpenFile& at(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
    [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  sqlite3_vfs shim{};
  sqlite3_vfs* disk = nullptr;  // the real one
  sqlite3_io_methods methods{};
  std::vector<Operation> operations;
  std::map<std::string, int> numbers;  // of the files that are there, by name
  int created = 0;

  Vfs();
  ~Vfs() { sqlite3_vfs_unregister(&shim); }
  Vfs(const Vfs&) = delete;
  Vfs& operator=(const Vfs&) = delete;

  static Vfs& at(sqlite3_vfs* vfs) { return *static_cast<Vfs*>(vfs->pAppData); }
  static std::string base_name(const char* path) {
    return std::filesystem::path(path).filename().string();
  }

  // --- sqlite3_vfs ------------------------------------------------------------------------------

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
    Vfs& self = at(vfs);
    OpenFile& opened = OpenFile::at(file);
    opened = {{nullptr}, &self, 0, false};
    const bool was_there = path != nullptr && ::access(path, F_OK) == 0;
    const int code = self.disk->xOpen(self.disk, path, opened.real(), flags, out);
    if (opened.real()->pMethods != nullptr) opened.base.pMethods = &self.methods;
    constexpr int kKept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    if (code != SQLITE_OK || path == nullptr || (flags & kKept) == 0) return code;
    const std::string name = base_name(path);
    if (!was_there || self.numbers.count(name) == 0) {
      self.numbers[name] = ++self.created;
      Operation creation{Kind::create, self.created, name, 0, {}, false};
      // Kiln syncs the folder of a database that it made before anything is stored in it.
      creation.syncs_folder = (flags & SQLITE_OPEN_MAIN_DB) != 0;
      self.operations.push_back(creation);
      opened.new_name = !creation.syncs_folder;
    }
    opened.number = self.numbers[name];
    return code;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    Vfs& self = at(vfs);
    const int code = self.disk->xDelete(self.disk, path, sync_folder);
    const auto found = self.numbers.find(base_name(path));
    if (code == SQLITE_OK && found != self.numbers.end()) {
      self.operations.push_back(
          {Kind::remove, found->second, found->first, 0, {}, sync_folder != 0});
      self.numbers.erase(found);
    }
    return code;
  }

  // --- sqlite3_io_methods -----------------------------------------------------------------------

  static int write(sqlite3_file* file, const void* bytes, int count, Offset offset) {
    OpenFile& opened = OpenFile::at(file);
    Vfs& self = *opened.vfs;
    if (opened.number != 0) {
      self.operations.push_back(
          {Kind::write,
           opened.number,
           {},
           offset,
           std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(count)),
           false});
    }
    return opened.real()->pMethods->xWrite(opened.real(), bytes, count, offset);
  }

  static int truncate(sqlite3_file* file, Offset length) {
    OpenFile& opened = OpenFile::at(file);
    if (opened.number != 0) {
      opened.vfs->operations.push_back({Kind::truncate, opened.number, {}, length, {}, false});
    }
    return opened.real()->pMethods->xTruncate(opened.real(), length);
  }

  static int sync(sqlite3_file* file, int flags) {
    OpenFile& opened = OpenFile::at(file);
    if (opened.number != 0) {
      opened.vfs->operations.push_back(
          {Kind::sync, opened.number, {}, 0, {}, std::exchange(opened.new_name, false)});
    }
    return opened.real()->pMethods->xSync(opened.real(), flags);
  }

  static int close(sqlite3_file* file) {
    sqlite3_file* real = OpenFile::at(file).real();
    return real->pMethods->xClose(real);
  }

  /// Handed on to the real file: forward<&sqlite3_io_methods::xRead> and so on.
  template <auto Method, typename... Arguments>
  static auto forward(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* real = OpenFile::at(file).real();
    return (real->pMethods->*Method)(real, arguments...);
  }
};

LossyDisk::Vfs::Vfs() {
  using M = sqlite3_io_methods;
  methods.iVersion = 2;  // 3 would map files into memory, past write()
  methods.xClose = close;
  methods.xRead = forward<&M::xRead, void*, int, Offset>;
  methods.xWrite = write;
  methods.xTruncate = truncate;
  methods.xSync = sync;
  methods.xFileSize = forward<&M::xFileSize, Offset*>;
  methods.xLock = forward<&M::xLock, int>;
  methods.xUnlock = forward<&M::xUnlock, int>;
  methods.xCheckReservedLock = forward<&M::xCheckReservedLock, int*>;
  methods.xFileControl = forward<&M::xFileControl, int, void*>;
  methods.xSectorSize = forward<&M::xSectorSize>;
  methods.xDeviceCharacteristics = forward<&M::xDeviceCharacteristics>;
  methods.xShmMap = forward<&M::xShmMap, int, int, int, void volatile**>;
  methods.xShmLock = forward<&M::xShmLock, int, int, int>;
  methods.xShmBarrier = forward<&M::xShmBarrier>;
  methods.xShmUnmap = forward<&M::xShmUnmap, int>;

  disk = sqlite3_vfs_find(nullptr);
  shim = *disk;  // time, randomness and the like are the real ones
  shim.iVersion = 2;
  shim.pNext = nullptr;
  shim.zName = "lossy";
  shim.pAppData = this;
  shim.szOsFile = static_cast<int>(sizeof(OpenFile)) + disk->szOsFile;
  shim.xOpen = open;
  shim.xDelete = remove;
  shim.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    return at(vfs).disk->xAccess(at(vfs).disk, path, flags, out);
  };
  shim.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
    return at(vfs).disk->xFullPathname(at(vfs).disk, path, size, out);
  };
  if (sqlite3_vfs_register(&shim, 1) != SQLITE_OK) throw std::runtime_error("SQLite takes no VFS");
}

LossyDisk::LossyDisk() : vfs_(std::make_unique<Vfs>()) {}
LossyDisk::~LossyDisk() = default;

const std::vector<LossyDisk::Operation>& LossyDisk::operations() const { return vfs_->operations; }

}  // namespace kiln::test
