// Ceilings: what a device can do at most, measured, so that a config's time can be held against it.
//
// Small kernels that only stream memory or only multiply (templates/ceilings), in a few shapes
// each; the fastest run counts. Independent of tuning: no database, no strategy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/backend.hpp"
#include "core/result.hpp"

namespace kiln {

struct Ceilings {
  double read_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  ///< bytes read and bytes written, both counted
  double f32_flops = 0;         ///< operations per second; a multiply-add is two
  double f64_flops = 0;         ///< 0 where the device has no f64
  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

/// Blocks for a second or two. Needs two buffers of at most 2 GiB and at most an eighth of the
/// device's memory each, and releases them. A shape that fails is passed over; a Failure means that
/// none of a kind could be measured, and is the last one's, or that the device is unusable.
[[nodiscard]] Result<Ceilings> measure_ceilings(Device& device, Compiler& compiler);

}  // namespace kiln
