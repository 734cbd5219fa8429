// JSON for values that it cannot hold as they are: broken UTF-8 from compilers and drivers, and
// infinite numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kiln {

/// `text` with every byte that is no valid UTF-8 replaced by '?', so that dumping it cannot fail.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Finite numbers as they are; others as "inf", "-inf" or "nan".
[[nodiscard]] nlohmann::ordered_json number_to_json(double number);

/// Inverse of number_to_json. Throws InputError.
[[nodiscard]] double number_from_json(const nlohmann::ordered_json& json);

/// On one line; bytes that are no UTF-8 become the replacement character.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace kiln
