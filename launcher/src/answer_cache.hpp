// AnswerCache: answers of lookups, kept on disk beside the binaries. If an earlier process made the
// same request with the same rows and the same code, its answer is used and no lookup is made. A
// lookup between tuned sizes takes longer than the rest of a first launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backends/binary_cache.hpp"
#include "core/device.hpp"
#include "core/spec.hpp"
#include "lookup/lookup.hpp"

namespace kiln {

/// Digest of the rows of one kernel. `with_shipped`: whether the shipped rows answer too; they are
/// not read for the digest.
[[nodiscard]] std::string digest_of(std::span<const BestRecord> rows, bool with_shipped);

/// Identifies the program or library that contains `address` by the size and time of its file,
/// since another build may answer differently. Empty if the file is not known.
[[nodiscard]] std::string build_with(const void* address);

class AnswerCache {
 public:
  /// Answers of one build for one device. `cache` must outlive the object. If `cache` is null or
  /// `build` is empty, nothing is kept. `timing`: of the lookups.
  AnswerCache(const BinaryCache* cache, const std::string& build, const DeviceInfo& device,
              Timing timing = Timing::eager);

  /// Returns what lookup() would return for the rows with this digest, without `best` and `steps`.
  /// Returns nullopt if no answer is kept, or if the kept one does not fit this problem and device.
  [[nodiscard]] std::optional<Match> find(const KernelSpec& spec, const Problem& problem,
                                          const std::string& rows) const;
  void store(const KernelSpec& spec, const Problem& problem, const std::string& rows,
             const Match& match) const;

 private:
  [[nodiscard]] std::string key_of(const KernelSpec& spec, const Problem& problem,
                                   const std::string& rows) const;

  const BinaryCache* cache_;
  DeviceInfo device_;
  std::string for_all_;  ///< the part that all keys share
};

}  // namespace kiln
