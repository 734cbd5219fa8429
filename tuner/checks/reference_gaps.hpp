// Finds the elements that a device reference left unwritten.
//
// Outputs are poisoned before a run, so an unwritten element still holds the poison. The reference
// runs twice, over two kinds of poison. An element that holds the first and then the second was not
// written, whatever values a result may have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/checks/problem_data.hpp"

namespace kiln {

/// `first` and `second`: the output after a run over Poison::usual and over Poison::other.
struct TwoRuns {
  const ProblemData::Output& output;
  const Buffer& first;
  const Buffer& second;
};

/// Compares the written elements with those that `[verify] written` declares (`declared`; empty:
/// all). Returns what is wrong with the reference, as the end of a sentence, or an empty string.
[[nodiscard]] Result<std::string> gaps_of(Device& device, Toolbox& toolbox, const TwoRuns& runs,
                                          const std::vector<bool>& declared);

/// "[row, column]" of a flat index.
[[nodiscard]] std::string place_of(std::int64_t index, const std::vector<std::int64_t>& shape);

}  // namespace kiln
