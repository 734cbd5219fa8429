// Reads T1 files: the input of an autotuner in the JSON form of the FAIR auto-tuning toolset
// (General, ConfigurationSpace with TuningParameters and Conditions, KernelSpecification).
//
// Only the space is read. Values are lists, or texts that hold a list of Python (value_list.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "interchange/space_reading.hpp"

namespace kiln {

/// Does `json` look like one?
[[nodiscard]] bool is_t1(const interchange::OrderedJson& json);

/// `json` is the parsed `text` of `path`. Throws InputError as read_described_spaces does.
[[nodiscard]] DescribedSpace read_t1(const interchange::OrderedJson& json, std::string_view text,
                                     const std::string& path);

}  // namespace kiln
