// The table of error numbers.
// SPDX-License-Identifier: Apache-2.0
#include "backends/driver_errors.hpp"

namespace kiln {

ErrorMeaning meaning_of_driver_code(int code, Outcome otherwise) {
  switch (static_cast<DriverCode>(code)) {
    case DriverCode::out_of_memory:
      return {Outcome::out_of_memory, false};
    case DriverCode::launch_timeout:  // the driver's watchdog stopped the kernel, and the context
                                      // with it
      return {Outcome::run_timeout, true};
    case DriverCode::device_unavailable:
    case DriverCode::ecc_uncorrectable:
    case DriverCode::nvlink_uncorrectable:
    case DriverCode::contained:
    case DriverCode::illegal_address:
    case DriverCode::context_is_destroyed:
    case DriverCode::device_assert:
    case DriverCode::hardware_stack_error:
    case DriverCode::illegal_instruction:
    case DriverCode::misaligned_address:
    case DriverCode::invalid_address_space:
    case DriverCode::invalid_pc:
    case DriverCode::launch_failed:
    case DriverCode::tensor_memory_leak:
    case DriverCode::unknown:
      return {Outcome::device_fault, true};
    case DriverCode::no_device:
      break;
  }
  return {otherwise, otherwise == Outcome::device_fault};
}

}  // namespace kiln
