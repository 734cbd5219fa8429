// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/recorded_trials.hpp"

#include "core/errors.hpp"
#include "core/interchange/kernel_tuner_cache.hpp"
#include "core/interchange/t4.hpp"

namespace kiln {

RecordedTrials read_recorded_trials(std::string_view text, const std::string& path) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError({path, 0, 0}, "the file is empty; expected a Kernel Tuner cache or a T4 file");
  }
  if (is_kernel_tuner_cache(text)) return read_kernel_tuner_cache(text, path);
  if (is_t4(text)) return read_t4(text, path);
  throw InputError(
      {path, 0, 0},
      "expected a Kernel Tuner cache (JSON with \"tune_params_keys\" and \"cache\") or "
      "a T4 file (JSON with \"results\" and \"configuration\")");
}

}  // namespace kiln
