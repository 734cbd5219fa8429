// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/recorded_groups.hpp"

#include "core/interchange/clblast_results.hpp"
#include "core/interchange/kernel_launcher_wisdom.hpp"
#include "core/interchange/kernel_tuner_cache.hpp"
#include "core/interchange/ktt_results.hpp"
#include "core/interchange/nvbench_results.hpp"
#include "core/interchange/t4.hpp"

namespace kiln {

std::string_view foreign_format(std::string_view text) {
  if (is_kernel_launcher_wisdom(text)) return "wisdom of Kernel Launcher";
  if (is_kernel_tuner_cache(text)) return "a cache of Kernel Tuner";
  if (is_t4(text)) return "a T4 file";
  if (is_ktt_results(text)) return "a file of results of KTT";
  if (is_clblast_database(text)) return "the database of CLBlast's tuners";
  if (is_clblast_results(text)) return "a file of results of a tuner of CLBlast";
  if (is_nvbench_results(text)) return "a file of results of nvbench";
  return "";
}

std::vector<RecordedTrials> read_recorded_groups(std::string_view text, const std::string& path) {
  if (is_kernel_launcher_wisdom(text)) return read_kernel_launcher_wisdom(text, path);
  if (is_kernel_tuner_cache(text) || is_t4(text) || is_ktt_results(text)) {
    return {read_recorded_trials(text, path)};
  }
  if (is_clblast_database(text)) return read_clblast_database(text, path);
  if (!is_clblast_results(text) && is_nvbench_results(text)) {
    return read_nvbench_results(text, path);
  }
  return {read_recorded_trials(text, path)};
}

}  // namespace kiln
