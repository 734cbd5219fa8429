// LossyDisk: a disk for SQLite that can lose power.
//
// While one lives it is SQLite's default VFS: files are written to the real file system, and every
// write, truncation, sync, creation and removal is recorded. Afterwards the record says what a disk
// could hold had the power failed after any of them. The model of loss:
// - what was written to a file and synced is there; of what was not synced, any set of its 512-byte
//   sectors may be there (or none, or all), a truncation too;
// - names appear and vanish in order, and a sync of the folder makes all of them durable. SQLite
// syncs the
//   folder with the first sync of a journal or WAL it made, and where it asks so when it removes
//   one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kiln::test {

enum class Loss {
  unsynced,  ///< everything that was not synced is gone
  nothing,   ///< everything written is there: the process was killed, the machine went on
  torn,      ///< any set of the unsynced sectors is there
};

class LossyDisk {
 public:
  LossyDisk();
  ~LossyDisk();
  LossyDisk(const LossyDisk&) = delete;
  LossyDisk& operator=(const LossyDisk&) = delete;

  struct Operation {
    enum class Kind { create, write, truncate, sync, remove };
    Kind kind = Kind::write;
    int file = 0;             ///< counts creations; a name that is made anew is a new file
    std::string name;         ///< create, remove: the file's name without its folder
    std::int64_t offset = 0;  ///< write: where; truncate: the new length; bytes
    std::string bytes;        ///< write
    bool syncs_folder = false;
  };
  [[nodiscard]] const std::vector<Operation>& operations() const;

 private:
  struct Vfs;
  std::unique_ptr<Vfs> vfs_;
};

/// What a disk holds while the operations of a LossyDisk happen one after another.
class DiskHistory {
 public:
  void apply(const LossyDisk::Operation& operation);

  /// The files by name as they would be found after a loss of power now. `seed` chooses the
  /// sectors.
  [[nodiscard]] std::map<std::string, std::string> after(Loss loss, std::uint64_t seed) const;

 private:
  using Operation = LossyDisk::Operation;
  using Random = std::mt19937_64;
  struct File {
    std::string durable;
    std::vector<Operation> unsynced;
    bool in_synced_folder = false;
  };
  static void apply_whole(std::string& content, const Operation& operation);
  static void apply_torn(std::string& content, const Operation& operation, Random& random);

  std::map<int, File> files_;
  std::map<std::string, int> names_;       // as the folder was last synced
  std::vector<Operation> unsynced_names_;  // creations and removals since
};

}  // namespace kiln::test
