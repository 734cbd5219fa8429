// Compiler messages, made to point at the template: "k.cu(41): error" gains "[tile.inja:12]".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/artifact.hpp"

namespace kiln {

/// `log` with " [template:line]" at the end of each line that names a line of `source` of known
/// origin. Reads the two forms in use: "file(41): error: ..." (NVRTC) and "file:41:5: error: ..."
/// (clang).
[[nodiscard]] std::string with_template_places(std::string_view log, const Source& source);

}  // namespace kiln
