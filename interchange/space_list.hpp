// Reads lists of spaces: {"spaces": [{"name": ..., "parameters": {name: [values]}, "constraints":
// [texts], "cartesian_size": number, "valid_size": number}]}, the sizes being optional.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interchange/space_reading.hpp"

namespace kiln {

/// `json` is the parsed `text` of `path`. Throws InputError as read_described_spaces does.
[[nodiscard]] std::vector<DescribedSpace> read_space_list(const interchange::OrderedJson& json,
                                                          std::string_view text,
                                                          const std::string& path);

}  // namespace kiln
