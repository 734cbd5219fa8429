// AnswerCache: what lookups said, kept beside the binaries: a process that asks what an earlier one
// asked, with the same rows and the same code, need not look up. A lookup between tuned sizes takes
// longer than all the rest of a first launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/device.hpp"
#include "core/spec.hpp"
#include "db/lookup.hpp"
#include "launcher/src/binary_cache.hpp"

namespace kiln {

/// Of the rows of one kernel and whether the shipped ones, which are not read for it, come on top.
[[nodiscard]] std::string digest_of(std::span<const BestRecord> rows, bool with_shipped);

/// The program or library that has `address`, as its file is now: another build may look up
/// otherwise. Empty where that cannot be told.
[[nodiscard]] std::string build_with(const void* address);

class AnswerCache {
 public:
  /// Answers of one build for one device. `cache` outlives it. Nothing is kept where it is null or
  /// the build is not known.
  AnswerCache(const BinaryCache* cache, const std::string& build, const DeviceInfo& device);

  /// What lookup() would say by the rows with this digest, without `best` and `steps`; nullopt
  /// where nobody asked or what is kept is no answer for this problem on this device.
  [[nodiscard]] std::optional<Match> find(const KernelSpec& spec, const Problem& problem,
                                          const std::string& rows) const;
  void store(const KernelSpec& spec, const Problem& problem, const std::string& rows,
             const Match& match) const;

 private:
  [[nodiscard]] std::string key_of(const KernelSpec& spec, const Problem& problem,
                                   const std::string& rows) const;

  const BinaryCache* cache_;
  DeviceInfo device_;
  std::string for_all_;  ///< the part that all keys have
};

}  // namespace kiln
