// What failed in a session, summed up so that a person sees what matters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::cli {

enum class FailedVariants { all, whole };

/// A sentence for each variant of which a config failed, or every config that was tried (`whole`):
/// how many did, and the most frequent reason.
[[nodiscard]] std::vector<std::string> failure_lines(const std::vector<TrialRecord>& trials,
                                                     FailedVariants which = FailedVariants::all);

/// Trials of one outcome whose reasons begin alike.
struct FailureGroup {
  std::string outcome;
  std::string reason;  ///< first line of the message of the first of them
  std::string config;  ///< of the first of them
  std::size_t count = 0;
};

/// All failures, the most frequent first.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const std::vector<TrialRecord>& trials);

}  // namespace kiln::cli
