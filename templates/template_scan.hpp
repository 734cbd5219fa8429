// Checks a template before inja parses it. Refuses everything that inja misreads, accepts although
// it is broken, or crashes on. The message states the place and what to write instead.
//
// Refused: `tile-1` (one name to inja), filters (`x | f`), `a or b and c` and `not a == b` without
// parentheses (inja binds them unexpectedly), for/if that cross or never end, names in a list
// literal, unclosed tags and comments (`{#pragma`), statements inja has but Kiln does not (extends,
// block). Called by parse_template only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/errors.hpp"

namespace kiln {

/// For each tag (statement or comment) on a line with nothing but such tags: the end of the tag ->
/// where the text continues, after the line break.
using LineBreaks = std::map<std::size_t, std::size_t>;

struct ScannedTemplate {
  std::string text;        ///< for inja
  LineBreaks line_breaks;  ///< that are not written
};

/// The place of the byte at `position` of `text`; columns count bytes from 1.
[[nodiscard]] SourceLocation locate(const std::string& file, const std::string& text,
                                    std::size_t position);

/// The text for inja has the same length and lines, with indented line statements (`    ##
/// for`) moved to the first column, where inja looks for them. Throws InputError at the first
/// fault.
[[nodiscard]] ScannedTemplate check_template_text(const std::string& file, const std::string& text);

}  // namespace kiln
