// `kiln render --report`: what the kernels of one config take of a device, as their compiler
// counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/setting.hpp"

namespace kiln::cli {

enum class ReportForm { text, json };

/// Compiles the config, which launches `plan`, in a worker process and prints one line per launch.
/// Throws InputError with the compiler's words when it does not compile, Error when there is no
/// compiler.
void print_render_report(const Setting& setting, const Config& config, const LaunchPlan& plan,
                         ReportForm form);

}  // namespace kiln::cli
