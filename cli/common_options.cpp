// Options that several commands share, with one help text each.
// SPDX-License-Identifier: Apache-2.0

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

const std::string kProblemText =
    "Sizes and types, e.g. m=512,n=2^20,dtype=f32; `kiln kernels KERNEL` lists them";

}  // namespace

KernelLibrary CommonOptions::library() const {
  return KernelLibrary({kernel_paths.begin(), kernel_paths.end()});
}

void add_database_option(CLI::App& command, CommonOptions& options) {
  options.database = default_database_path();
  add_value(command, "--db", options.database, "FILE",
            "Database: a file, or postgresql://... of a server (default: $KILN_DB, else\n"
            "kiln/kiln.db in the user's data folder)")
      ->check(database_name());
}

void add_kernel_path_option(CLI::App& command, CommonOptions& options) {
  add_value(command, "--kernel-path", options.kernel_paths, "DIR",
            "Folder with kernels of your own; may repeat")
      ->allow_extra_args(false);
}

void add_json_option(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print JSON instead of text");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_database_option(command, options);
  add_kernel_path_option(command, options);
  add_json_option(command, options);
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace a file that is there and that Kiln did not write");
}

void add_kernel_option(CLI::App& command, std::string& kernel) {
  add_value(command, "kernel", kernel, "KERNEL", "Name of a kernel, or the folder of your own")
      ->required();
}

void add_problem_option(CLI::App& command, std::vector<std::string>& problems) {
  add_value(command, "--problem", problems, "TEXT", kProblemText + ". May repeat: a session each")
      ->allow_extra_args(false);
}

void add_kernel_and_problem(CLI::App& command, std::string& kernel, std::string& problem) {
  add_kernel_option(command, kernel);
  add_value(command, "--problem", problem, "TEXT", kProblemText);
}

void add_device_option(CLI::App& command, std::string& device) {
  add_value(command, "--device", device, "DEVICE",
            "auto, a backend, or a device as `kiln devices` names it")
      ->capture_default_str();
}

std::string architecture_or_default(const std::string& backend, const std::string& architecture) {
  if (!architecture.empty()) return architecture;
  if (backend == "cuda") return "sm_90a";
  return backend == "hip" ? "gfx90a" : "opencl";
}

}  // namespace kiln::cli
