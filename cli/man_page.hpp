// Man pages of the commands, in the language of groff's package man.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command_texts.hpp"

namespace kiln::cli {

/// "kiln-db-info": the name of the page of a command, without its section.
[[nodiscard]] std::string man_page_name(const CommandText& command);

/// The page of `command`, with everything that its help says.
[[nodiscard]] std::string man_page(const CommandText& command);

}  // namespace kiln::cli
