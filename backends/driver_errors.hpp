// What the error numbers of CUDA and HIP drivers mean for a config. Both use the same numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/outcome.hpp"

namespace kiln {

/// The numbers that mean something to Kiln; names as in CUresult without their prefix.
enum class DriverCode : int {
  out_of_memory = 2,
  device_unavailable = 46,
  no_device = 100,
  ecc_uncorrectable = 214,
  nvlink_uncorrectable = 220,
  contained = 226,
  illegal_address = 700,
  launch_timeout = 702,
  context_is_destroyed = 709,
  device_assert = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  tensor_memory_leak = 721,
  unknown = 999,
};

struct ErrorMeaning {
  Outcome outcome = Outcome::launch_error;
  bool sticky = false;  ///< the device's context is lost
};

/// The meaning of `code`; `otherwise` for numbers that mean nothing in particular. A device_fault
/// is always sticky.
[[nodiscard]] ErrorMeaning meaning_of_driver_code(int code, Outcome otherwise);

}  // namespace kiln
