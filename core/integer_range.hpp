// What the integer types of elements can hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "core/dtype.hpp"

namespace kiln {

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// The numbers that an integer type holds; of u64 those that an i64 holds, too.
[[nodiscard]] inline IntegerRange integer_range(DType type) {
  const bool is_signed = name_of(type).front() == 'i';
  const std::size_t bits = 8 * size_of(type);
  const auto high = bits == 64 ? std::numeric_limits<std::int64_t>::max()
                               : (std::int64_t{1} << (bits - (is_signed ? 1 : 0))) - 1;
  return {is_signed ? -high - 1 : 0, high};
}

}  // namespace kiln
