// Reads the cache files of Kernel Tuner (JSON: tune_params_keys, tune_params, cache).
//
// Source of the format: Kernel Tuner's documentation of cache files, and its schemas 1.0.0
// to 1.2.0. Times are in milliseconds, also where they stand in quotes; a time, or an "__error__",
// that is a word ("CompilationFailedConfig") says how the config failed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_kernel_tuner_cache(std::string_view text);

/// Reads all trials. A cache that ends behind a trial, as an interrupted Kernel Tuner leaves it, is
/// read up to there; one that ends inside a trial has that one in `bad`. Throws InputError as
/// read_recorded_trials does.
[[nodiscard]] RecordedTrials read_kernel_tuner_cache(std::string_view text,
                                                     const std::string& path);

}  // namespace kiln
