// The commands of the `kiln` program: one file each, all of one shape: declare the options, then
// hand back the work.
//
// The command line is parsed before anything runs; `Work` is what main() calls then. Commands print
// their result to stdout and progress to stderr. Errors that end a run are thrown (core/errors.hpp)
// and printed by main().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/parser_fwd.hpp"
#include "core/errors.hpp"
#include "templates/library.hpp"

namespace kiln::cli {

using Work = std::function<ExitCode()>;

/// Options that several commands share.
struct CommonOptions {
  std::filesystem::path database;         ///< --db
  std::vector<std::string> kernel_paths;  ///< --kernel-path, may repeat
  bool json = false;                      ///< --json
  bool trust = false;                     ///< --trust

  /// The kernels built in and those under --kernel-path.
  [[nodiscard]] KernelLibrary library() const;
};

void add_database_option(CLI::App& command, CommonOptions& options);
void add_kernel_path_option(CLI::App& command, CommonOptions& options);
void add_json_option(CLI::App& command, CommonOptions& options);
/// The three of them.
void add_common_options(CLI::App& command, CommonOptions& options);

void add_kernel_option(CLI::App& command, std::string& kernel);
/// --problem that may repeat: a session each.
void add_problem_option(CLI::App& command, std::vector<std::string>& problems);
/// The positional KERNEL and --problem, for commands about one problem of one kernel.
void add_kernel_and_problem(CLI::App& command, std::string& kernel, std::string& problem);
/// --device of the commands that run something.
void add_device_option(CLI::App& command, std::string& device);
void add_force_option(CLI::App& command, bool& force);

/// `architecture`, or the one that stands for the backend where none is named.
[[nodiscard]] std::string architecture_or_default(const std::string& backend,
                                                  const std::string& architecture);

/// Adds all commands to `app`: NAME.cpp defines `void add_NAME_command(CLI::App& app, Work& work)`,
/// and cli/CMakeLists.txt lists NAME. When the user chose a command, parsing sets `work`.
void add_commands(CLI::App& app, Work& work);

}  // namespace kiln::cli
