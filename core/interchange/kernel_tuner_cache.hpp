// Reads the cache files of Kernel Tuner (JSON: tune_params_keys, tune_params, cache).
//
// Source of the format: Kernel Tuner's documentation of cache files, and its schema 1.0.0. Times
// are in milliseconds; a time that is a text ("CompilationFailedConfig") says how the config
// failed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_kernel_tuner_cache(std::string_view text);

/// Reads all trials. A cache whose end is missing, as an interrupted Kernel Tuner leaves it, is
/// read up to its last whole trial. Throws InputError as read_recorded_trials does.
[[nodiscard]] RecordedTrials read_kernel_tuner_cache(std::string_view text,
                                                     const std::string& path);

}  // namespace kiln
