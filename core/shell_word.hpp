// Text as one word of a POSIX shell.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// In single quotes, whatever it holds.
[[nodiscard]] std::string shell_quoted(const std::string& text);

/// As it stands where no shell would change it, else in single quotes.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace kiln
