// BinaryCache: compiled kernels on disk, so that only the first process on a machine compiles.
//
// A binary is code that will run with the user's rights, so the folder must be the user's own and
// closed to others (0700). Links are not followed. Each entry holds its key and a checksum. Entries
// appear whole (temporary name, then rename), so processes share the folder without locks. The
// folder has a size limit: the entries used longest ago are deleted. A damaged, foreign or
// unreadable entry, or a full disk, is a miss. Nothing here throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/artifact.hpp"

namespace kiln {

inline constexpr std::uint64_t kDefaultCacheBytes = std::uint64_t{1} << 30U;

/// A binary and the compiler that made it.
struct CachedBinary {
  Binary binary;
  std::string compiler;
};

class BinaryCache {
 public:
  /// Opens `folder`; creates it and its parents if they are missing. store() keeps the folder
  /// within `limit` bytes.
  explicit BinaryCache(const std::filesystem::path& folder,
                       std::uint64_t limit = kDefaultCacheBytes) noexcept;
  ~BinaryCache();
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  /// Why the folder cannot be used; empty if it can. An unusable cache always misses and stores
  /// nothing.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  /// Returns the entry of `key` (from cache_key: hexadecimal digits), or nullopt. Counts as a use
  /// of the entry.
  [[nodiscard]] std::optional<CachedBinary> find(const std::string& key) const noexcept;
  /// Writes an entry; replaces an entry of the same key. `compiler` is for people: "nvrtc 13.0".
  /// Returns false if the entry could not be written.
  bool store(const std::string& key, const Binary& binary,
             const std::string& compiler) const noexcept;

 private:
  void open_folder(const std::filesystem::path& folder);

  int folder_ = -1;
  std::uint64_t limit_;
  std::string trouble_;
};

/// $KILN_CACHE, else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln; empty when none of them is set.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// The size limit of a cache.
struct CacheLimit {
  std::uint64_t bytes = kDefaultCacheBytes;
  /// Why the requested limit is not used; empty if it is, or if none was requested.
  std::string trouble;
};

/// Reads $KILN_CACHE_LIMIT: a whole number of bytes above 0, or a number with the unit K, M or G
/// (powers of 1024). An empty variable counts as not set.
[[nodiscard]] CacheLimit default_cache_limit();

}  // namespace kiln
