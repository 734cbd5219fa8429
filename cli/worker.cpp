// `kiln worker ...`: the hidden processes that compile and run kernels (tuner/device/worker.hpp).
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/worker.hpp"

#include <optional>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"

namespace kiln::cli {
namespace {

ExitCode run_as_worker(const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"kiln", "worker"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const std::optional<WorkerOptions> options =
      parse_worker_arguments(static_cast<int>(arguments.size()), arguments.data());
  if (!options) {
    throw UsageError("kiln worker is for Kiln itself; see kiln --help for the commands");
  }
  return static_cast<ExitCode>(run_worker(*options));
}

}  // namespace

void add_worker_command(CLI::App& app, Work& work) {
  CLI::App* command = app.add_subcommand("worker", "A process that works for another kiln");
  command->prefix_command();
  command->callback(
      [command, &work] { work = [words = command->remaining()] { return run_as_worker(words); }; });
}

}  // namespace kiln::cli
