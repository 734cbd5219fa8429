// The last-level cache of AMD devices, which the drivers do not report.
//
// HIP reports the L2 only: 4 MiB on an MI300X, whose Infinity Cache holds 256 MiB. A flush by that
// number leaves the operands of most problems in the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/device.hpp"

namespace kiln {

/// Bytes of the last-level cache of an AMD `architecture` ("gfx942"); 0 where the table does not
/// know it. Boards with fewer memory channels have a smaller cache; `memory_bus_bits` of 0 counts
/// as the widest board. The parts of a partitioned device share the cache: each gets all of it.
[[nodiscard]] std::int64_t amd_last_level_bytes(std::string_view architecture,
                                                std::int64_t memory_bus_bits);

/// Sets `last_level_bytes` by that table; leaves 0 where the L2 is at least as large.
void set_amd_last_level(DeviceInfo& device, std::string_view architecture);

/// Bytes of the cache that a cold sample must not find filled: the last level, or else the L2.
[[nodiscard]] std::int64_t bytes_to_flush_out(const DeviceInfo& device);

}  // namespace kiln
