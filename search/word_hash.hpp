// A hash over words for tables that compare what they find. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// The next state of a hash. The multiplier is the odd number nearest to 2^64 over the golden ratio
/// (D. Knuth, The Art of Computer Programming, 6.4).
[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

}  // namespace kiln
