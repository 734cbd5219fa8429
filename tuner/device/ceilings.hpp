// Ceilings: the measured maximum of a device, to compare a config's time with.
//
// Small kernels that only stream memory or only multiply (templates/ceilings), in a few shapes
// each; the fastest run counts. Independent of tuning: no database, no strategy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/backend.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"

namespace kiln {

struct Ceilings {
  static constexpr const char* kType = "ceilings";  ///< of the message of a worker
  double read_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  ///< bytes read and bytes written, both counted
  double f32_flops = 0;         ///< operations per second; a multiply-add is two
  double f64_flops = 0;         ///< 0 if the device has no f64
  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

KILN_FIELDS(Ceilings, read_bytes_per_s, copy_bytes_per_s, f32_flops, f64_flops);

/// Blocks for a second or two. Needs two buffers of at most 2 GiB and at most an eighth of the
/// device's memory each, and releases them. A shape that fails is skipped. A Failure means that no
/// shape of a kind could be measured (it is the last shape's), or that the device is unusable.
[[nodiscard]] Result<Ceilings> measure_ceilings(Device& device, Compiler& compiler);

}  // namespace kiln
