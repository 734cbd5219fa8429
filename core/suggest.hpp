// "did you mean ...?": the nearest known name to a mistyped one, for error messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// The candidate with the fewest edits from `name`; nullopt when none is close enough to be meant.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

/// "; did you mean 'tile_rows'?" or, when nothing is near, "" : to be appended to a message.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "a, b, c": for messages that list what is allowed.
[[nodiscard]] std::string comma_list(const std::vector<std::string>& names);

}  // namespace kiln
