// A kernel of `kiln prove FILE`: a plain source, with options in place of a spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/parser_fwd.hpp"
#include "core/spec.hpp"

namespace kiln::cli {

struct SourceFlags {
  std::vector<std::string> arguments;  ///< NAME=read f32[n]
  std::vector<std::string> grid;
  std::vector<std::string> block;
  std::vector<std::string> tunables;  ///< NAME=VALUE,...
  std::vector<std::string> formulas;  ///< OUTPUT=TEXT
  std::string reference;              ///< FILE:FUNCTION(...)
  std::string entry;                  ///< empty: the only kernel

  /// As they stood on the command line.
  [[nodiscard]] std::vector<std::string> words() const;
};

void add_source_options(CLI::App& command, SourceFlags& flags);

/// The spec that the options say, with the text of `file`. Throws UsageError that names the option,
/// and InputError if the file cannot be read or has no such kernel.
[[nodiscard]] KernelSpec spec_of_source(const std::filesystem::path& file,
                                        const SourceFlags& flags);

}  // namespace kiln::cli
