// Reads recorded trials of another tuner, whichever format a file has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/recorded_trials.hpp"

namespace kiln {

/// What a file of another tuner is, for messages: "a cache of Kernel Tuner"; empty for any other
/// text.
[[nodiscard]] std::string_view foreign_format(std::string_view text);

/// Reads a Kernel Tuner cache, a T4 file or results of KTT, whichever `text` is. A row that cannot
/// be read, or that contradicts another one, costs that row (`bad`). Throws InputError naming the
/// file and the line, with what was expected there, for a file that cannot be read at all.
[[nodiscard]] RecordedTrials read_recorded_trials(std::string_view text, const std::string& path);

/// The same for a reader that needs every row: throws InputError for the first bad one.
[[nodiscard]] RecordedTrials read_all_recorded_trials(std::string_view text,
                                                      const std::string& path);

/// A later measurement replaces an earlier one: removes rows of which another row of the same
/// kernel, problem and config has a later timestamp.
void drop_replaced(std::span<RecordedTrials* const> files);

/// Leaves out the configs that ran in one row and failed in another, with a message for each.
void drop_contradictions(RecordedTrials& recorded);

}  // namespace kiln
