// Occupancy: how many blocks share a compute unit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/device.hpp"

namespace kiln {

/// What one block takes of a compute unit.
struct BlockNeeds {
  std::int64_t threads = 1;
  std::int64_t shared_bytes = 0;  ///< static and dynamic
  std::int64_t registers = -1;    ///< of a thread; below 0: not known, counts as free
};

/// Blocks that are resident in a compute unit at the same time, at most; 1 at least, since the
/// launch is legal. Registers are given to whole warps, in steps of 256 (CUDA C++ Programming
/// Guide, "Hardware Multithreading"); on AMD's GPUs in steps that depend on the architecture. What
/// a driver keeps of the shared memory is left out.
[[nodiscard]] std::int64_t resident_blocks(const BlockNeeds& block, const DeviceInfo& device);

}  // namespace kiln
