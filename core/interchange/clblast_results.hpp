// Reads what CLBlast's tuners write: the JSON of one tuner (clblast_xgemm_1_32.json: kernel_family,
// precision, arg_m, ..., results with kernel, time and parameters), and the database that CLBlast
// collects them in (sections; there a result is ["64,2,1", time] in the order of parameter_names).
//
// Source of the formats: the tuners and scripts/database of CLBlast 1.7. Times are in milliseconds
// with three digits. Configs that failed are not in these files, except for a time of -1.
// PRECISION is left out of the tunables, as CLBlast leaves it out of its database: each file has
// one precision.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like the JSON of one tuner?
[[nodiscard]] bool is_clblast_results(std::string_view text);

/// Does `text` look like the database?
[[nodiscard]] bool is_clblast_database(std::string_view text);

/// Reads all results of one tuner. The arguments are "precision" and each "arg_NAME" as NAME.
/// Throws InputError as read_recorded_trials does.
[[nodiscard]] RecordedTrials read_clblast_results(std::string_view text, const std::string& path);

/// Reads all sections of the database, one group each, in their order. A group without trials has
/// the messages for sections that cannot be read. Throws InputError naming the file for one that
/// holds no section.
[[nodiscard]] std::vector<RecordedTrials> read_clblast_database(std::string_view text,
                                                                const std::string& path);

}  // namespace kiln
