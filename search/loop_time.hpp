// The time of a launch whose main loop the spec describes ([variants.loop]): a pipeline of copies
// and matrix instructions, fed from the memory of the device.
//
// A round takes as long as its slowest part. The parts are the arithmetic, the reads of shared
// memory and the copies of all blocks on the compute unit, and a copy's latency divided by the
// rounds in flight. Results are stored after the loop, while nothing multiplies. It is a
// roofline (Williams, Waterman, Patterson, 2009) of each level that a tiled kernel uses, with
// Little's law for the latency. The constants were fitted to 3,500 random configs of matrix
// products on an H100; docs/results/chosen_numbers.md says how good it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/loop.hpp"

namespace kiln {

/// What the launch takes of the device.
struct LoopPlace {
  double resident = 1;       ///< blocks that share a compute unit
  double cluster = 1;        ///< blocks of a cluster
  double units = 1;          ///< share of the compute units that have a block
  double waves = 1;          ///< rounds of resident blocks
  double cycles_per_ns = 1;  ///< at the highest clock
  double bytes_per_ns = 1;   ///< of device memory, at best
  double bytes = 0;          ///< that must move, of the whole problem
  double launches = 1;       ///< of a run
};

/// Nanoseconds of a run.
[[nodiscard]] double loop_time_ns(const LoopNumbers& loop, const LoopPlace& place);

}  // namespace kiln
