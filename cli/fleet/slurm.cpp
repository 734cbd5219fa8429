// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/slurm.hpp"

#include <fmt/format.h>

#include "cli/print.hpp"
#include "core/errors.hpp"
#include "core/program.hpp"
#include "core/shell_word.hpp"

namespace kiln::cli {
namespace {

// One line of the script: a line end would begin a command.
std::string checked_option(const std::string& option) {
  if (option.starts_with("-") && option.find('\n') == std::string::npos) return option;
  throw UsageError(
      fmt::format("--slurm-option: expected an option of sbatch, as --gres=gpu:1, not "
                  "'{}'",
                  option));
}

}  // namespace

std::string slurm_script(const std::string& name, const SlurmOptions& options,
                         const std::vector<std::string>& words) {
  std::string plain;
  for (const char c : name) plain += c == '\n' || c == '\r' ? ' ' : c;
  std::string script = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "# Two minutes before the end: the session is stored and the lease returned.\n"
      "#SBATCH --signal=B:TERM@120\n",
      shell_word("kiln-" + plain), options.tasks,
      options.at_once > 0 ? fmt::format("%{}", options.at_once) : "");
  for (const std::string& option : options.options)
    script += fmt::format("#SBATCH {}\n", checked_option(option));
  script += "exec";
  for (const std::string& word : words) script += ' ' + shell_word(word);
  return script + '\n';
}

void submit_to_slurm(const std::string& script) {
  const Ended ended = run_program({.words = {"sbatch"}, .folder = {}, .input = script});
  print_shown("{}", ended.out);
  if (ended.is_ok()) return;
  constexpr int kNotFound = 127;
  if (ended.exit_code == kNotFound) {
    throw Error(ExitCode::failed,
                "there is no sbatch on this host; --print shows the script, for a host of the "
                "cluster");
  }
  throw Error(ExitCode::failed,
              fmt::format("sbatch refused the job array ({}: {}); the jobs are submitted: "
                          "`kiln fleet work` tunes them anywhere",
                          ended.ending(), last_lines(ended.err, 3)));
}

}  // namespace kiln::cli
