// The inside of one template tag, token by token: what check_template_text refuses in expressions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

/// Checks the tokens of the tag that starts at `tag_start`, from `at` to `close` ("}}", "%}" or the
/// end of the line); returns the position behind it. Throws InputError at the first fault.
[[nodiscard]] std::size_t check_tag_body(const std::string& file, const std::string& text,
                                         std::size_t tag_start, std::size_t at,
                                         std::string_view close);

/// Letters, digits and '_'.
[[nodiscard]] bool is_name_part(char c);

}  // namespace kiln
