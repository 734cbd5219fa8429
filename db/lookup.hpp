// Lookup: from a problem to the config to run, with the grade of the match and the reason in words.
//
// Pure: works on rows already read, never throws for want of data, always ends in a config that is
// legal for this problem on this device (or says that none is).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "db/store.hpp"

namespace kiln {

/// In the options of a session: what its kernel computes (computation_hash()).
inline constexpr std::string_view kComputesOption = " computes=";

/// Tells bests of a kernel from those of another one of that name, which computes something else.
/// Rows of sessions that did not say what they compute count by their name; of shipped rows it is
/// known.
class KernelIdentity {
 public:
  /// `spec` must outlive it.
  explicit KernelIdentity(const KernelSpec& spec);
  [[nodiscard]] bool has(const BestRecord& best) const;

 private:
  const KernelSpec& spec_;
  std::string computation_;
};

enum class Grade { exact, near_size, same_arch, same_vendor, fallback };
/// "exact", "near_size", "same_arch", "same_vendor", "default".
[[nodiscard]] std::string_view name_of(Grade grade);

struct Match {
  Config config;
  Grade grade = Grade::fallback;
  double distance = 0;             ///< log2 units between the problems; 0 for exact and default
  std::string reason;              ///< one sentence
  bool stale = false;              ///< found under another driver, compiler or template
  std::optional<BestRecord> best;  ///< the row behind it; none for default
  std::vector<std::string> steps;  ///< the chain as walked, one sentence each (kiln best --explain)
};

/// Walks from exact over near_size, same_arch and same_vendor, whichever is nearest, to default.
/// `bests` may hold rows of any kernel and device, in any order: nothing but their content decides.
/// Rows of other devices and stale ones count as further away than they are (docs/lookup.md); of
/// rows that match alike, the one of the better grade, then the one of the lower layer (user before
/// shipped), then the newer one. A candidate illegal for this problem on this device is passed over
/// and said so. A Failure means that not even the default is legal here.
[[nodiscard]] Result<Match> lookup(const KernelSpec& spec, const Problem& problem,
                                   const DeviceInfo& device, std::span<const BestRecord> bests);

}  // namespace kiln
