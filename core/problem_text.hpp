// The text form of problems: "m=512,n=64Ki,dtype=f32,transform='sin(x) + 1'". Private to core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/spec.hpp"

namespace kiln {

/// name=value pairs, separated by commas or spaces; quotes are taken off. Throws InputError.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> split_problem_text(
    std::string_view text);

/// `text` as a value of the field's type; nullopt when it is none. Integers may be written as
/// sizes.
[[nodiscard]] std::optional<Value> read_field_value(const ProblemField& field,
                                                    const std::string& text);

/// A whole number written as 4096, 1e6, 2^20, 64Ki, 64Mi, 64Gi or 64Ti.
[[nodiscard]] std::optional<std::int64_t> read_size(std::string_view text);

/// The value as the field's type (whole floats become integers and the like); nullopt when
/// impossible.
[[nodiscard]] std::optional<Value> to_field_type(const ProblemField& field, const Value& value);

/// What the field may be, for messages: "an integer of at least 1", "one of f16, f32".
[[nodiscard]] std::string expectation(const ProblemField& field);

/// In quotes when it holds spaces, commas or quotes, so that split_problem_text gives it back.
[[nodiscard]] std::string quoted_if_needed(const std::string& text);

}  // namespace kiln
