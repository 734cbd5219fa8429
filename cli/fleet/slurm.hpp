// The job array of Slurm that runs workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::cli {

struct SlurmOptions {
  int tasks = 1;                     ///< of the array: workers
  int at_once = 0;                   ///< tasks that run at the same time; 0: all
  std::vector<std::string> options;  ///< of sbatch, as "--gres=gpu:1"
};

/// The script for sbatch. `words`: the command of a task.
[[nodiscard]] std::string slurm_script(const std::string& name, const SlurmOptions& options,
                                       const std::vector<std::string>& words);

/// Hands the script to sbatch, which prints the number of the array. Throws Error (exit code 1) if
/// there is no sbatch or it refuses.
void submit_to_slurm(const std::string& script);

}  // namespace kiln::cli
