// What an AMD code object says about its kernels: registers, spills and shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/artifact.hpp"

namespace kiln {

/// What one kernel takes, counted by its compiler. 0 where the metadata does not say.
struct KernelResources {
  std::string name;
  std::int64_t vector_registers = 0;  ///< of a lane; on CDNA 2 and later with accumulators
  std::int64_t accumulators = 0;      ///< of a lane: what matrix instructions add up in
  std::int64_t scalar_registers = 0;  ///< of a wavefront
  std::int64_t spilled_vector_registers = 0;
  std::int64_t spilled_scalar_registers = 0;
  std::int64_t scratch_bytes = 0;  ///< of a lane: spills, and arrays indexed at run time
  std::int64_t shared_bytes = 0;   ///< static, per block
  std::int64_t wavefront = 0;      ///< lanes: 32 or 64
};

/// The kernels of a code object in its order; none when there is no readable metadata note.
[[nodiscard]] std::vector<KernelResources> kernels_of_code_object(std::span<const std::byte> data);

/// Sets the resources of `binary` to the largest over all kernels of `binary.data`. Returns the
/// kernels' names; nothing is changed and the list is empty when there is no readable note.
std::vector<std::string> read_code_object(Binary& binary);

}  // namespace kiln
