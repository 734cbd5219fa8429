// The text of --help: commands in groups, lines as wide as the screen, and what nobody needs on the
// first day only in --help-all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/parser_fwd.hpp"

namespace kiln::cli {

/// The group of options that --help leaves out and --help-all shows.
inline constexpr const char* kMoreOptions = "More options";

/// Whether --help-all shows more of a command than --help; where it does not, it is not listed.
[[nodiscard]] bool has_more_options(const CLI::App& command);

/// Makes `app` print its help, and that of the commands that are added later, in this form.
void set_help(CLI::App& app);

}  // namespace kiln::cli
