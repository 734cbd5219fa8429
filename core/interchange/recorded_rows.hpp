// The opening of a file whose results stand in one list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/interchange/json_parser.hpp"
#include "core/interchange/recorded_trials.hpp"

namespace kiln::interchange {

/// The results of `text` under `key`, and what stands around them. Their path and what cannot be
/// read of them, such as a file that was cut, goes into `recorded`. Throws InputError where there
/// is no result.
[[nodiscard]] JsonRows open_results(std::string_view text, const std::string& path, const char* key,
                                    RecordedTrials& recorded);

}  // namespace kiln::interchange
