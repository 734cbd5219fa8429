// Compiler messages, made to point at the template: "k.cu(41): error: x" becomes "tile.inja:12:
// error: x [line 41]".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/artifact.hpp"

namespace kiln {

/// `log`, in which each message at a line of `source` of known origin names the template's line in
/// front, instead of the compiler's own file, and the rendered line at its end. Reads the two forms
/// in use: "file(41): error: ..." (NVRTC) and "file:41:5: error: ..." (clang).
[[nodiscard]] std::string with_template_places(std::string_view log, const Source& source);

}  // namespace kiln
