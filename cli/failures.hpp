// What failed in a session, summed up so that a person sees what matters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::cli {

/// A sentence for each variant of which every config that was tried failed, with the most frequent
/// reason: the session is a success without it, and its author will want to know.
[[nodiscard]] std::vector<std::string> failed_variants(const std::vector<TrialRecord>& trials);

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
