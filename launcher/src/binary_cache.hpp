// BinaryCache: compiled kernels on disk, so that only the first process on a machine compiles.
//
// A binary is code that will run with the user's rights, so the folder must be the user's own and
// closed to others (0700), links are not followed, and each entry proves its key and content by a
// checksum. Entries appear whole (temporary name, then rename), so processes share the folder
// without locks. Anything odd - damaged, foreign, unreadable, a full disk - is a miss. Nothing here
// throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/artifact.hpp"

namespace kiln {

class BinaryCache {
 public:
  /// Opens `folder`, creating it and its parents where they are missing.
  explicit BinaryCache(const std::filesystem::path& folder) noexcept;
  ~BinaryCache();
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  /// Why the folder cannot be used (find() always misses then, store() does nothing); empty: it
  /// can.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  /// The entry under `key` (binary_key: hexadecimal digits), or a miss.
  [[nodiscard]] std::optional<Binary> find(const std::string& key) const noexcept;
  /// Publishes an entry, replacing one of the same key. False when it could not be written.
  bool store(const std::string& key, const Binary& binary) const noexcept;

 private:
  void open_folder(const std::filesystem::path& folder);

  int folder_ = -1;
  std::string trouble_;
};

/// $KILN_CACHE, else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln; empty when none of them is set.
[[nodiscard]] std::filesystem::path default_cache_folder();

}  // namespace kiln
