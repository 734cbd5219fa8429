// SPDX-License-Identifier: Apache-2.0
#include "core/last_level_cache.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kBytesPerMiB = std::int64_t{1} << 20;

// Sources: AMD's data sheets of Instinct and Radeon boards ("Infinity Cache", "L2 cache").
struct LastLevel {
  std::string_view architecture;
  std::int64_t bytes;
  std::int64_t widest_bus_bits;  // of the board with that cache; 0: all boards have it
};

constexpr LastLevel kLastLevels[] = {
    {"gfx908", 8 * kBytesPerMiB, 0},       // MI100: the L2
    {"gfx90a", 8 * kBytesPerMiB, 0},       // MI200, each of its two dies: the L2
    {"gfx940", 256 * kBytesPerMiB, 0},     // MI300A, early
    {"gfx941", 256 * kBytesPerMiB, 0},     // MI300X, early
    {"gfx942", 256 * kBytesPerMiB, 0},     // MI300A, MI300X, MI325X
    {"gfx950", 256 * kBytesPerMiB, 0},     // MI350X, MI355X
    {"gfx1030", 128 * kBytesPerMiB, 256},  // RX 6800 to RX 6950 XT
    {"gfx1031", 96 * kBytesPerMiB, 192},   // RX 6700 XT; RX 6700: 80 MiB at 160 bits
    {"gfx1032", 32 * kBytesPerMiB, 128},   // RX 6600
    {"gfx1034", 16 * kBytesPerMiB, 64},    // RX 6500 XT
    {"gfx1100", 96 * kBytesPerMiB,
     384},  // RX 7900 XTX; XT: 80 MiB at 320 bits, GRE: 64 MiB at 256 bits
    {"gfx1101", 64 * kBytesPerMiB, 256},  // RX 7800 XT; RX 7700 XT: 48 MiB at 192 bits
    {"gfx1102", 32 * kBytesPerMiB, 128},  // RX 7600
    {"gfx1151", 32 * kBytesPerMiB, 0},    // Strix Halo
    {"gfx1200", 32 * kBytesPerMiB, 128},  // RX 9060 XT
    {"gfx1201", 64 * kBytesPerMiB, 256},  // RX 9070 XT; RX 9070 GRE: 48 MiB at 192 bits
};

}  // namespace

std::int64_t amd_last_level_bytes(std::string_view architecture, std::int64_t memory_bus_bits) {
  for (const LastLevel& entry : kLastLevels) {
    if (entry.architecture != architecture) continue;
    const bool is_narrower = memory_bus_bits > 0 && memory_bus_bits < entry.widest_bus_bits;
    return is_narrower ? entry.bytes / entry.widest_bus_bits * memory_bus_bits : entry.bytes;
  }
  return 0;
}

void set_amd_last_level(DeviceInfo& device, std::string_view architecture) {
  const std::int64_t bytes = amd_last_level_bytes(architecture, device.memory_bus_bits);
  device.last_level_bytes = bytes > device.l2_bytes ? bytes : 0;
}

std::int64_t bytes_to_flush_out(const DeviceInfo& device) {
  return device.last_level_bytes > 0 ? device.last_level_bytes : device.l2_bytes;
}

}  // namespace kiln
