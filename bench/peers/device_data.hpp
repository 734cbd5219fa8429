// Arrays in device memory: made, filled with seeded random values and compared there.
//
// The element types are Kiln's (core/dtype.hpp). Everything runs on the given stream; compare()
// waits for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/dtype.hpp"

namespace kiln::peers {

/// Device memory that is freed at the end of its scope.
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DType dtype, std::int64_t count);
  explicit DeviceArray(std::size_t bytes)
      : DeviceArray(DType::u8, static_cast<std::int64_t>(bytes)) {}
  ~DeviceArray();
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept;

  [[nodiscard]] void* data() const { return data_; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t count() const { return count_; }  ///< elements
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(count_) * size_of(dtype_);
  }

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::u8;
  std::int64_t count_ = 0;
};

/// The fills of docs/spec_arguments.md that are met here.
enum class Pattern {
  uniform,   ///< random in [low, high); whole numbers low..high for integers
  constant,  ///< low everywhere
  sorted,    ///< rising from low to high
  skewed,    ///< nine in ten equal to low, the rest uniform
};

struct FillRange {
  double low = 0;
  double high = 1;
};

void fill(const DeviceArray& array, Pattern pattern, FillRange range, std::uint64_t seed,
          cudaStream_t stream);

/// Keeps the stream busy for about this many clock cycles of the device.
void hold(long long cycles, cudaStream_t stream);

/// How far apart two arrays of one type are.
struct Difference {
  std::uint64_t unequal = 0;  ///< elements
  double largest = 0;         ///< of |a - b|; infinite where one of them is not a number
  double total = 0;           ///< of |a - b|
  double magnitude = 0;       ///< of |b|, the largest
};

/// `a` and `b` have the same type and count.
[[nodiscard]] Difference compare(const DeviceArray& a, const DeviceArray& b, cudaStream_t stream);

}  // namespace kiln::peers
