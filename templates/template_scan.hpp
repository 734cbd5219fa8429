// Guards a template before inja sees it: everything that inja reads differently from what the
// author meant, accepts though it is broken, or crashes on, is refused here with its place and what
// to write.
//
// Refused: `tile-1` (one name to inja), filters (`x | f`), `a or b and c` and `not a == b` without
// parentheses (inja binds them unexpectedly), for/if that cross or never end, names in a list
// literal, unclosed tags and comments (`{#pragma`), statements inja has but Kiln does not (extends,
// block). Called by parse_template only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/errors.hpp"

namespace kiln {

/// The place of the byte at `position` of `text`; columns count bytes from 1.
[[nodiscard]] SourceLocation locate(const std::string& file, const std::string& text,
                                    std::size_t position);

/// Returns the text for inja: the same length and lines, with indented line statements (`    ##
/// for`) moved to the first column, where inja looks for them. Throws InputError at the first
/// fault.
[[nodiscard]] std::string check_template_text(const std::string& file, const std::string& text);

}  // namespace kiln
