// KILN_LAST_LEVEL_BYTES: the user knows the last-level cache better than the driver.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device.hpp"

namespace kiln {

/// Sets `last_level_bytes` to the value of KILN_LAST_LEVEL_BYTES; does nothing where the variable
/// is not set or empty. Throws UsageError when it is not a whole number of bytes above 0.
void override_last_level(DeviceInfo& device);

}  // namespace kiln
