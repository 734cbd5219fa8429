// The files that pages of `kiln report` are made of, inside the program (report/CMakeLists.txt).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/embedded_file.hpp"

namespace kiln {

/// "page.html", "page.css", "page.js", "views.json", and, where the build found them, the libraries
/// ("vega.js", "vega-lite.js", "vega-embed.js") with their licences ("vega.licence", ...). Sorted
/// by path.
[[nodiscard]] std::span<const EmbeddedFile> report_parts();

}  // namespace kiln
