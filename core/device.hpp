// Device identity and limits as plain values: what a backend reports, what constraints and the
// database see.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/scope.hpp"

namespace kiln {

/// One device as one backend sees it (the same GPU through OpenCL is another DeviceInfo).
struct DeviceInfo {
  std::string backend;  ///< "cuda", "hip", "opencl"
  int ordinal = 0;      ///< index within the backend
  std::string name;     ///< marketing name, e.g. "NVIDIA H200"
  /// "nvidia", "amd", "intel", "cpu" (PoCL), or the platform's own, lower case.
  std::string vendor;
  std::string architecture;  ///< compiler target: "sm_90a", "gfx90a", or "opencl-<vendor>-<device>"
  std::string driver;        ///< driver version text
  std::string compiler;      ///< compiler and version, e.g. "nvrtc 13.0"
  std::string runtime;       ///< platform text, e.g. "PoCL 3.1 / LLVM 14"

  std::int64_t compute_units = 1;
  std::int64_t compute_capability = 0;  ///< 90 for sm_90; 0 where the idea does not exist
  std::int64_t warp_size = 1;           ///< 32, 64; 1 where threads do not run in lock step (CPU)
  std::int64_t max_threads_per_block = 256;
  std::array<std::int64_t, 3> max_block = {256, 256, 256};
  std::array<std::int64_t, 3> max_grid = {2147483647, 65535, 65535};
  std::int64_t max_shared_bytes = 32768;  ///< per block, without asking for more
  /// Per block, as dynamic shared memory with the attribute set.
  std::int64_t max_shared_bytes_optin = 32768;
  std::int64_t shared_bytes_per_unit = 32768;  ///< per compute unit
  std::int64_t registers_per_block = 65536;
  std::int64_t max_threads_per_unit = 2048;
  std::int64_t l2_bytes = 0;  ///< L2 of a GPU, largest cache of a CPU
  /// Of a larger cache behind the L2, which HIP does not report; 0: there is none. Sizes the
  /// cold-cache flush in place of the L2 (core/last_level_cache.hpp).
  std::int64_t last_level_bytes = 0;
  std::int64_t global_bytes = 0;
  std::int64_t clock_khz = 0;
  std::int64_t memory_clock_khz = 0;
  std::int64_t memory_bus_bits = 0;
  bool has_f16 = false;  ///< half arithmetic (storage as f16 always works)
  bool has_f64 = false;
  bool has_shuffle = false;         ///< exchange between threads of a warp or wavefront
  bool has_f32_atomic_add = false;  ///< native; otherwise a compare-and-swap loop is used
  bool is_cpu = false;
  /// How an AMD board is split into devices, compute mode and memory mode: "CPX/NPS4"; empty: not
  /// known, or the board cannot be split.
  std::string partition;

  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

KILN_FIELDS(DeviceInfo, backend, ordinal, name, vendor, architecture, driver, compiler, runtime,
            compute_units, compute_capability, warp_size, max_threads_per_block, max_block,
            max_grid, max_shared_bytes, max_shared_bytes_optin, shared_bytes_per_unit,
            registers_per_block, max_threads_per_unit, l2_bytes, global_bytes, clock_khz,
            memory_clock_khz, memory_bus_bits, has_f16, has_f64, has_shuffle, has_f32_atomic_add,
            is_cpu, last_level_bytes, partition);

/// "cuda:0", "opencl:1": how the command line names it.
[[nodiscard]] std::string selector_of(const DeviceInfo& device);

/// Stable identity for the database: backend, vendor, name and architecture (not ordinal, not
/// driver): "cuda/nvidia/NVIDIA H200/sm_90a". AMD gives boards and partitions of different size one
/// name, so its GPUs add their compute units and partition:
/// "hip/amd/AMD Instinct MI300X/gfx942/38 units/CPX/NPS4".
[[nodiscard]] std::string identity_of(const DeviceInfo& device);

/// `identity`, or identity_of(device) where `identity` is the shorter one that Kiln up to 0.1
/// stored for that AMD GPU.
[[nodiscard]] std::string current_identity(const std::string& identity, const DeviceInfo& device);

/// Threads of one launch along one dimension (grid extent x block extent) that the device takes at
/// most. HIP's dispatch packet holds that product in 32 bits; elsewhere only the extents are
/// limited.
[[nodiscard]] std::int64_t max_threads_per_dimension(const DeviceInfo& device);

// What the architecture has: facts of hardware that variants `require`, derived from the
// architecture's name, so that stored devices have them, too.
/// Copies from global to shared memory that go on while threads do not wait (CUDA 8.0).
[[nodiscard]] bool has_async_copy(const DeviceInfo& device);
/// Bulk tensor copies described by tensor maps, and clusters of blocks (CUDA 9.0).
[[nodiscard]] bool has_tensor_maps(const DeviceInfo& device);
/// Matrix instructions of a warp on f16 and bf16 (CUDA 8.0).
[[nodiscard]] bool has_mma(const DeviceInfo& device);
/// Matrix instructions of a warpgroup on operands in shared memory (CUDA, exactly sm_90a).
[[nodiscard]] bool has_wgmma(const DeviceInfo& device);
/// Matrix instructions of a wavefront of 64 (gfx90a, gfx94x, gfx950).
[[nodiscard]] bool has_mfma(const DeviceInfo& device);
/// Matrix instructions of a wavefront of 32 (gfx11xx, gfx12xx).
[[nodiscard]] bool has_wmma(const DeviceInfo& device);
/// Matrix instructions on 8-bit floats, and conversions to them.
[[nodiscard]] bool has_fp8(const DeviceInfo& device);

/// Adds `backend` and every `device.*` name that expressions may use (docs/spec_format.md lists
/// them).
void add_to_scope(const DeviceInfo& device, Scope& scope);

/// The names that add_to_scope defines; a spec that uses another is refused when it is read.
[[nodiscard]] const std::vector<std::string>& device_scope_names();

/// A made-up device with the limits of a well-known architecture ("sm_75", "sm_80", "sm_90a",
/// "sm_120", "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "opencl"), to render
/// and compile where no such device is. Throws DeviceError.
[[nodiscard]] DeviceInfo device_for_architecture(const std::string& backend,
                                                 const std::string& architecture);

}  // namespace kiln
