// `kiln render --report`: what the kernels of one config take of a device, as their compiler
// counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln::cli {

struct RenderedConfig {
  const KernelSpec& spec;
  const Problem& problem;
  const Config& config;
  const DeviceInfo& device;
};

enum class ReportForm { text, json };

/// Compiles the config in a worker process and prints one line per launch. Throws InputError with
/// the compiler's words when it does not compile, Error when there is no compiler.
void print_render_report(const RenderedConfig& rendered, ReportForm form);

}  // namespace kiln::cli
