// "did you mean ...?": the nearest known name to a mistyped one, for error messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// The candidate that `name` most likely means: the same word in other letters ("OpenCL",
/// "tile-m"), what others call it ("gemm" for matmul, "float" for f32), else the one with the
/// fewest edits; nullopt when none is close enough to be meant.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

/// "; did you mean 'tile_rows'?" or, when nothing is near, "" : to be appended to a message.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "a, b, c", each name once: for messages that list what is allowed.
[[nodiscard]] std::string comma_list(const std::vector<std::string>& names);

}  // namespace kiln
