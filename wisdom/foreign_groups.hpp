// What a file of another tool gives to one kernel: a file may hold several kernels, devices and
// problems, and sizes of the problem among the tunables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/interchange/recorded_trials.hpp"
#include "db/records.hpp"

namespace kiln {

struct ForeignBests {
  std::vector<BestRecord> bests;   ///< one per problem
  std::vector<std::string> bad;    ///< what was left out, with its place and the reason
  std::vector<std::string> notes;  ///< what was taken for granted or passed over
};

/// Returns the best of each problem in the groups of `file`, as best_of_recorded does.
///
/// - A recorded tunable that `problem` names as {NAME}, or that is a field of the spec's problem
///   and a tunable of no variant, is a size of the problem: its values tell problems apart.
/// - Of a file with several parts, those of another device or with other tunables are passed over;
///   if a part has the name of the spec, so are the parts of other names.
/// - Of two groups with the same sizes the faster best counts. Two groups with different sizes that
///   become the same problem are bad: `problem` must name what tells them apart.
[[nodiscard]] ForeignBests bests_of_groups(const KernelSpec& spec, const std::string& problem,
                                           const DeviceInfo& device, const std::string& file,
                                           std::vector<RecordedTrials> groups);

}  // namespace kiln
