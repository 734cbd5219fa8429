// SPDX-License-Identifier: Apache-2.0
#include "backends/binary_cache.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <sstream>
#include <string_view>

#include "backends/cache_trim.hpp"
#include "core/hash.hpp"

namespace kiln {
namespace {

// An entry: magic, key, registers, spill bytes, shared bytes, lengths of the compiler's name, of
// the log and of the symbols, the three texts, data, checksum of all before. Symbols: for each an
// entry and its symbol, one a line. The number in the magic changes with the layout, so that old
// entries are misses.
constexpr std::string_view kMagic = "kiln binary 3\n";
constexpr std::size_t kKeyLength = 32;
constexpr std::size_t kChecksumLength = 32;
constexpr std::size_t kHeaderLength = kMagic.size() + kKeyLength + 6 * sizeof(std::int64_t);
constexpr std::size_t kMaxEntryBytes = std::size_t{256} << 20U;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Keys are content hashes; anything else could name a file outside the folder.
bool is_key(std::string_view key) {
  return key.size() == kKeyLength &&
         key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string checksum(std::string_view text) {
  return hash128_hex(std::as_bytes(std::span(text.data(), text.size())));
}

void put(std::string& text, std::int64_t value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::int64_t take(std::string_view& text) {
  std::int64_t value = 0;
  std::memcpy(&value, text.data(), sizeof value);
  text.remove_prefix(sizeof value);
  return value;
}

/// False when there are fewer than `length` characters left.
bool take_text(std::string_view& text, std::int64_t length, std::string& taken) {
  if (length < 0 || static_cast<std::size_t>(length) > text.size()) {
    return false;
  }
  taken = text.substr(0, static_cast<std::size_t>(length));
  text.remove_prefix(taken.size());
  return true;
}

std::string symbols_text(const Binary& binary) {
  std::string text;
  for (const auto& [entry, symbol] : binary.symbols) text += entry + "\n" + symbol + "\n";
  return text;
}

std::map<std::string, std::string> symbols_of(const std::string& text) {
  std::map<std::string, std::string> symbols;
  std::istringstream lines(text);
  for (std::string entry, symbol; std::getline(lines, entry) && std::getline(lines, symbol);)
    symbols[entry] = symbol;
  return symbols;
}

std::string pack(const std::string& key, const Binary& binary, const std::string& compiler) {
  std::string text(kMagic);
  text += key;
  put(text, binary.registers);
  put(text, binary.spill_bytes);
  put(text, binary.shared_bytes);
  put(text, static_cast<std::int64_t>(compiler.size()));
  put(text, static_cast<std::int64_t>(binary.log.size()));
  const std::string symbols = symbols_text(binary);
  put(text, static_cast<std::int64_t>(symbols.size()));
  text += compiler;
  text += binary.log;
  text += symbols;
  text.append(reinterpret_cast<const char*>(binary.data.data()), binary.data.size());
  return text + checksum(text);
}

std::optional<CachedBinary> unpack(const std::string& key, std::string_view text) {
  if (text.size() < kHeaderLength + kChecksumLength || !text.starts_with(kMagic)) {
    return std::nullopt;
  }
  const std::string_view content = text.substr(0, text.size() - kChecksumLength);
  if (checksum(content) != text.substr(content.size()) ||
      content.substr(kMagic.size(), kKeyLength) != key) {
    return std::nullopt;
  }
  std::string_view rest = content.substr(kMagic.size() + kKeyLength);
  CachedBinary cached;
  Binary& binary = cached.binary;
  binary.registers = take(rest);
  binary.spill_bytes = take(rest);
  binary.shared_bytes = take(rest);
  const std::int64_t compiler_length = take(rest);
  const std::int64_t log_length = take(rest);
  const std::int64_t symbols_length = take(rest);
  std::string symbols;
  if (!take_text(rest, compiler_length, cached.compiler) ||
      !take_text(rest, log_length, binary.log) || !take_text(rest, symbols_length, symbols)) {
    return std::nullopt;
  }
  binary.symbols = symbols_of(symbols);
  const auto bytes = std::as_bytes(std::span(rest.data(), rest.size()));
  binary.data.assign(bytes.begin(), bytes.end());
  return cached;
}

// The time of change is the time of the last use. Told to the disk once a minute at most.
void note_use(int file, const struct stat& facts) {
  constexpr std::int64_t kSeconds = 60;
  if (facts.st_mtim.tv_sec + kSeconds < ::time(nullptr)) {
    ::futimens(file, nullptr);
  }
}

std::optional<std::string> read_own_file(int folder, const std::string& name) {
  // O_NONBLOCK: a pipe planted under the name must not hang the reader.
  const File file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
      static_cast<std::size_t>(facts.st_size) > kMaxEntryBytes) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t length = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      return std::nullopt;
    }
    filled += static_cast<std::size_t>(length);
  }
  note_use(file.get(), facts);
  return text;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t length = ::write(file, text.data(), text.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

// Processes with one number each (containers) may share the folder: the number alone is no name.
std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    random = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
             static_cast<std::uint64_t>(now.tv_nsec);
  }
  return ".new-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)) + "-" +
         std::to_string(random);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

BinaryCache::BinaryCache(const std::filesystem::path& folder, std::uint64_t limit) noexcept
    : limit_(limit) {
  try {
    open_folder(folder);
  } catch (const std::exception&) {
    trouble_ = "out of memory";
  }
}

void BinaryCache::open_folder(const std::filesystem::path& folder) {
  if (folder.empty()) {
    trouble_ = "there is no place for it: none of KILN_CACHE, XDG_CACHE_HOME and HOME is set";
    return;
  }
  // "x/" would have "x" as its parent, to be made as others' folders are.
  const std::filesystem::path plain = folder.has_filename() ? folder : folder.parent_path();
  const std::string name = plain.string();
  std::error_code error;
  if (plain.has_parent_path()) {
    std::filesystem::create_directories(plain.parent_path(), error);
  }
  if (::mkdir(name.c_str(), 0700) != 0 && errno != EEXIST) {
    trouble_ = name + ": cannot be created: " + std::strerror(errno);
    return;
  }
  const int opened = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) {
    const bool is_link = errno == ELOOP || errno == ENOTDIR;
    trouble_ = name + (is_link ? ": is a link or no folder"
                               : std::string(": cannot be opened: ") + std::strerror(errno));
    return;
  }
  struct stat facts {};
  if (::fstat(opened, &facts) != 0 || facts.st_uid != ::geteuid()) {
    trouble_ = name + ": belongs to another user";
  } else if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    trouble_ = name + ": other users may write to it (chmod 700 mends that)";
  } else {
    folder_ = opened;
    return;
  }
  ::close(opened);
}

BinaryCache::~BinaryCache() {
  if (folder_ >= 0) {
    ::close(folder_);
  }
}

std::optional<CachedBinary> BinaryCache::find(const std::string& key) const noexcept {
  if (folder_ < 0 || !is_key(key)) {
    return std::nullopt;
  }
  try {
    const std::optional<std::string> text = read_own_file(folder_, key + ".bin");
    return text ? unpack(key, *text) : std::nullopt;
  } catch (const std::exception&) {  // no memory for it
    return std::nullopt;
  }
}

bool BinaryCache::store(const std::string& key, const Binary& binary,
                        const std::string& compiler) const noexcept {
  if (folder_ < 0 || !is_key(key)) {
    return false;
  }
  try {
    const std::string text = pack(key, binary, compiler);
    if (text.size() > std::min<std::uint64_t>(kMaxEntryBytes, limit_)) {
      return false;
    }
    const std::string temporary = temporary_name();
    bool created = false;
    bool published = false;
    {
      const File file(::openat(folder_, temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      created = file.is_open();
      published = created && write_all(file.get(), text);
    }
    published =
        published && ::renameat(folder_, temporary.c_str(), folder_, (key + ".bin").c_str()) == 0;
    if (created && !published) {
      ::unlinkat(folder_, temporary.c_str(), 0);
    }
    trim_cache(folder_, limit_);
    return published;
  } catch (const std::exception&) {
    return false;
  }
}

CacheLimit default_cache_limit() {
  const std::string text = environment("KILN_CACHE_LIMIT");
  if (text.empty()) return {};
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  unsigned shift = 0;
  if (unit == "K") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  const bool is_size = error == std::errc{} && number > 0 && (unit.empty() || shift > 0) &&
                       number <= (std::numeric_limits<std::uint64_t>::max() >> shift);
  if (is_size) return {number << shift, ""};
  return {kDefaultCacheBytes, "KILN_CACHE_LIMIT is '" + text +
                                  "', which is no size of a cache: expected bytes, or a number "
                                  "with K, M or G, such as 512M"};
}

std::filesystem::path default_cache_folder() {
  if (const std::string folder = environment("KILN_CACHE"); !folder.empty()) {
    return folder;
  }
  if (const std::string folder = environment("XDG_CACHE_HOME"); !folder.empty()) {
    return std::filesystem::path(folder) / "kiln";
  }
  const std::string home = environment("HOME");
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".cache" / "kiln";
}

}  // namespace kiln
