// How memory that kernels see is aligned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kiln {

/// Of allocations, of windows into them (Buffer::offset), and of where fences begin; in bytes.
inline constexpr std::size_t kWindowAlignment = 256;

/// The least multiple of `step` that is not below `bytes`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace kiln
