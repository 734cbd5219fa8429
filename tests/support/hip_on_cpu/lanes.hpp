// Runs the blocks of a launch on one thread of the CPU, each lane as a fiber: a lane runs until it
// waits for others, at a barrier of its block or at an exchange with its wavefront.
//
// Blocks run one after the other, in order. A wavefront's exchange goes on when none of its lanes
// can run otherwise, with the lanes that came to the same place of the code; so diverging lanes are
// apart as on the device. What AMD's hardware does beyond that is not here: time, several blocks at
// once, memory that is not coherent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "tests/support/hip_on_cpu/lane_hooks.hpp"

namespace kiln::hip_on_cpu {

struct Grid {
  std::array<unsigned, 3> blocks = {1, 1, 1};
  std::array<unsigned, 3> threads = {1, 1, 1};
};

/// The hooks that every loaded kernel uses.
[[nodiscard]] KilnLaneHooks& hooks();

/// Runs `kernel` once for each thread. One launch at a time.
void run_grid(const Grid& grid, int wavefront, KilnCpuKernel kernel, void** arguments);

}  // namespace kiln::hip_on_cpu
