// The driver calls of the interception beside those of backends/cuda/cuda_api.hpp. All optional: a
// driver without them takes over less.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::blas {

struct DriverCalls {
  int (*mem_alloc_async)(std::uintptr_t* address, std::size_t bytes, void* stream) = nullptr;
  int (*mem_free_async)(std::uintptr_t address, void* stream) = nullptr;
  int (*stream_get_id)(void* stream, unsigned long long* id) = nullptr;
  int (*exchange_capture_mode)(int* mode) = nullptr;
  int (*event_query)(void* event) = nullptr;

  /// What takes over calls whose kernels need memory between their steps.
  [[nodiscard]] bool has_ordered_memory() const {
    return mem_alloc_async != nullptr && mem_free_async != nullptr && stream_get_id != nullptr;
  }
};

/// Those of the driver that cuda() loaded. Throws what cuda() throws.
[[nodiscard]] const DriverCalls& driver();

}  // namespace kiln::blas
