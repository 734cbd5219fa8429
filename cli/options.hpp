// Options with a value, as all commands declare them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace kiln::cli {

/// Adds an option, or a positional argument where `name` begins with a letter. `type`: what the
/// help calls its value. The value lands in `target`, which must outlive the parsing.
template <typename Target>
CLI::Option* add_value(CLI::App& command, const char* name, Target& target, const char* type,
                       const std::string& help) {
  return command.add_option(name, target, help)->type_name(type);
}

}  // namespace kiln::cli
