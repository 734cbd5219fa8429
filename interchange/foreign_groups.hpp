// Extracts the bests of one kernel from files of other tuners. The tunables of a file may include
// sizes of the problem, so that it holds several problems.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/records.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln {

struct ForeignBests {
  std::vector<BestRecord> bests;   ///< one per problem
  std::vector<std::string> bad;    ///< what was left out, with its place and the reason
  std::vector<std::string> notes;  ///< what was taken for granted or passed over
};

/// Returns the best of each problem in all files, as best_of_recorded does.
///
/// - A recorded tunable is a size of the problem if `problem` names it as {NAME}, or if it is a
///   problem field of the spec and a tunable of no variant. Each of its values is another problem.
/// - If two files have the same sizes, the faster best counts. If two with different sizes become
///   the same problem, both are bad: `problem` must name the size that differs.
[[nodiscard]] ForeignBests bests_of_files(const KernelSpec& spec, const std::string& problem,
                                          const DeviceInfo& device,
                                          std::vector<RecordedTrials> files);

}  // namespace kiln
