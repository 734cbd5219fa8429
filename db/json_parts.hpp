// Parts of a JSON text, found without reading the rest: the evidence of a best is some ten
// kilobytes of samples and reports, of which a lookup needs a few dozen names and numbers.
//
// For texts that were written by a JSON library. Of others no more is promised than that nothing
// bad happens: what has no shape is refused, what is wrong inside a part that nobody asks for is
// not seen. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

/// What to do with a member's key (as it is written, without its quotes) and the text of its value.
using VisitMember = std::function<void(std::string_view key, std::string_view value)>;
/// What to do with the text of an element; false: the others are not needed.
using VisitElement = std::function<bool(std::string_view element)>;

/// Visits the members of an object, in order. False when the text is no object; some may have been
/// visited then.
[[nodiscard]] bool for_each_member(std::string_view json, const VisitMember& visit);

/// Visits the elements of an array, in order. False when the text is no array; some may have been
/// visited then.
[[nodiscard]] bool for_each_element(std::string_view json, const VisitElement& visit);

/// nullopt when the value is no string, or no number.
[[nodiscard]] std::optional<std::string> json_string(std::string_view value);
[[nodiscard]] std::optional<double> json_number(std::string_view value);

}  // namespace kiln
