// Finds an embedded file by its path; the table of files is generated.
// SPDX-License-Identifier: Apache-2.0
#include "templates/embedded.hpp"

#include <algorithm>

namespace kiln {

std::optional<std::string> embedded_file(std::string_view path) {
  auto files = embedded_files();
  auto found = std::find_if(files.begin(), files.end(),
                            [&](const EmbeddedFile& file) { return file.path == path; });
  if (found == files.end()) return std::nullopt;
  return found->text();
}

}  // namespace kiln
