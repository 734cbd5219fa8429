// What the benchmarks work on: each built-in kernel with a problem as it is met in practice, on a
// device that need not be there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln {

struct Workbench {
  KernelSpec spec;
  Problem problem;
  Config config;  ///< the default
};

/// The built-in kernels; loaded once.
[[nodiscard]] const std::vector<Workbench>& workbenches();

/// A made-up "sm_90a": neither rendering nor search needs the device itself.
[[nodiscard]] const DeviceInfo& workbench_device();

using KernelBenchmark = void (*)(benchmark::State& state, const Workbench& workbench);

/// Registers `run` once for each built-in kernel, as "NAME/kernel".
void register_for_each_kernel(const std::string& name, KernelBenchmark run);

// What main() registers; one file each.
void register_spec_benchmarks();
void register_space_benchmarks();
void register_render_benchmarks();

/// The spaces that a file describes (`kiln space --file` reads the same). Throws InputError for one
/// that cannot be read.
void register_described_space_benchmarks(const std::string& path);

}  // namespace kiln
