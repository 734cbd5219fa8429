// Fills arrays with patterns, compares two arrays, and holds a stream, each by a kernel.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <type_traits>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/device_data.hpp"
#include "bench/peers/device_types.cuh"

namespace kiln::peers {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

__device__ std::int64_t thread_index() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
__device__ std::int64_t thread_count() { return gridDim.x * static_cast<std::int64_t>(blockDim.x); }

/// SplitMix64 (Steele, Lea, Flood 2014): a well mixed number for every (seed, index).
__device__ std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// In [0, 1).
__device__ double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

template <typename T>
__device__ T from_unit(double share, FillRange range) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(
        static_cast<long long>(floor(range.low + share * (range.high - range.low + 1))));
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(static_cast<float>(range.low + share * (range.high - range.low)));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(static_cast<float>(range.low + share * (range.high - range.low)));
  } else if constexpr (is_small_float<T>) {
    return T(static_cast<float>(range.low + share * (range.high - range.low)));
  } else {
    return static_cast<T>(range.low + share * (range.high - range.low));
  }
}

template <typename T>
__global__ void fill_kernel(T* out, std::int64_t count, Pattern pattern, FillRange range,
                            std::uint64_t seed) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
    const double random = unit(random_bits(seed, i));
    double share = random;
    if (pattern == Pattern::constant) share = 0;
    if (pattern == Pattern::sorted) share = static_cast<double>(i) / static_cast<double>(count);
    if (pattern == Pattern::skewed) share = random_bits(~seed, i) % 10 != 0 ? 0.0 : random;
    out[i] = from_unit<T>(share, range);
  }
}

/// Doubles that are not negative order like their bits.
__device__ void atomic_max(double* to, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(to),
            static_cast<unsigned long long>(__double_as_longlong(value)));
}

template <typename T>
__global__ void compare_kernel(const T* a, const T* b, std::int64_t count, Difference* difference) {
  Difference mine;
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
    const double x = to_double(a[i]);
    const double y = to_double(b[i]);
    if (x == y) {
      mine.magnitude = fmax(mine.magnitude, fabs(y));
      continue;
    }
    const double apart = isnan(x - y) ? __longlong_as_double(0x7ff0000000000000LL) : fabs(x - y);
    ++mine.unequal;
    mine.largest = fmax(mine.largest, apart);
    mine.total += apart;
    mine.magnitude = fmax(mine.magnitude, fabs(y));
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(&difference->unequal),
            static_cast<unsigned long long>(mine.unequal));
  atomicAdd(&difference->total, mine.total);
  atomic_max(&difference->largest, mine.largest);
  atomic_max(&difference->magnitude, mine.magnitude);
}

__global__ void hold_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace

DeviceArray::DeviceArray(DType dtype, std::int64_t count) : dtype_(dtype), count_(count) {
  KILN_CUDA(cudaMalloc(&data_, bytes() > 0 ? bytes() : 1));
}

DeviceArray::~DeviceArray() { cudaFree(data_); }

DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(count_, other.count_);
  return *this;
}

void fill(const DeviceArray& array, Pattern pattern, FillRange range, std::uint64_t seed,
          cudaStream_t stream) {
  with_type(array.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    fill_kernel<T>
        <<<kBlocks, kThreads, 0, stream>>>(array.as<T>(), array.count(), pattern, range, seed);
  });
  KILN_CUDA(cudaGetLastError());
}

void hold(long long cycles, cudaStream_t stream) {
  hold_kernel<<<1, 1, 0, stream>>>(cycles);
  KILN_CUDA(cudaGetLastError());
}

Difference compare(const DeviceArray& a, const DeviceArray& b, cudaStream_t stream) {
  if (a.dtype() != b.dtype() || a.count() != b.count())
    throw std::logic_error("arrays of two kinds are compared");
  const DeviceArray result(sizeof(Difference));
  KILN_CUDA(cudaMemsetAsync(result.data(), 0, result.bytes(), stream));
  with_type(a.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    compare_kernel<T><<<kBlocks, kThreads, 0, stream>>>(a.as<T>(), b.as<T>(), a.count(),
                                                        result.as<Difference>());
  });
  KILN_CUDA(cudaGetLastError());
  Difference difference;
  KILN_CUDA(cudaMemcpyAsync(&difference, result.data(), sizeof difference, cudaMemcpyDeviceToHost,
                            stream));
  KILN_CUDA(cudaStreamSynchronize(stream));
  return difference;
}

}  // namespace kiln::peers
