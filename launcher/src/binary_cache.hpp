// BinaryCache: compiled kernels on disk, so that only the first process on a machine compiles.
//
// A binary is code that will run with the user's rights, so the folder must be the user's own and
// closed to others (0700), links are not followed, and each entry proves its key and content by a
// checksum. Entries appear whole (temporary name, then rename), so processes share the folder
// without locks. The folder keeps to a size: the entries used longest ago go. Anything odd -
// damaged, foreign, unreadable, a full disk - is a miss. Nothing here throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/artifact.hpp"

namespace kiln {

inline constexpr std::uint64_t kDefaultCacheBytes = std::uint64_t{1} << 30U;

/// A binary and what compiled it.
struct CachedBinary {
  Binary binary;
  std::string compiler;
};

class BinaryCache {
 public:
  /// Opens `folder`, creating it and its parents where they are missing. store() keeps it to
  /// `limit` bytes.
  explicit BinaryCache(const std::filesystem::path& folder,
                       std::uint64_t limit = kDefaultCacheBytes) noexcept;
  ~BinaryCache();
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  /// Why the folder cannot be used (find() always misses then, store() does nothing); empty: it
  /// can.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  /// The entry under `key` (cache_key: hexadecimal digits), or a miss. Counts as a use of it.
  [[nodiscard]] std::optional<CachedBinary> find(const std::string& key) const noexcept;
  /// Publishes an entry, replacing one of the same key. `compiler` is for people: "nvrtc 13.0".
  /// False when it could not be written.
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

/// How large a cache may grow.
struct CacheLimit {
  std::uint64_t bytes = kDefaultCacheBytes;
  std::string trouble;  ///< why what was asked for is not it; empty: it is, or nothing was
};

/// $KILN_CACHE_LIMIT: a whole number of bytes above 0, or with one of the units K, M and G (of
/// 1024). Empty counts as not set.
[[nodiscard]] CacheLimit default_cache_limit();

}  // namespace kiln
