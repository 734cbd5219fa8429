// Multiplies, adds and measures errors in f64, by one kernel each.
//
//   for i, j: C[i, j] = alpha * sum over p of A[i, p] * B[p, j] + beta * C[i, j]
//
// A block computes 64 x 64 results, a thread 4 x 4 of them, 16 steps of k at a time.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/device_types.cuh"
#include "bench/peers/matmul_reference.hpp"

namespace kiln::peers {
namespace {

constexpr int kTile = 64;
constexpr int kSteps = 16;
constexpr int kThreads = 16;             // along each side of a block
constexpr int kEach = kTile / kThreads;  // results of a thread along each side
constexpr double kMostOperations = 0x1p41;
constexpr double kMostBytes = 0x1p32;

/// Where element (row, column) of op(X) lies: row * down + column * across.
struct Strides {
  std::int64_t down = 0;
  std::int64_t across = 0;
  std::int64_t batch = 0;
};

struct Sizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 0;
};

Strides strides_of(const StoredMatrix& matrix, bool transposed) {
  if (transposed) return {1, matrix.stride, matrix.batch_stride};
  return {matrix.stride, 1, matrix.batch_stride};
}

template <typename T>
__device__ void multiply_tile(const T* a, Strides sa, const T* b, Strides sb, double* out,
                              Sizes size, double alpha) {
  __shared__ double a_tile[kSteps][kTile];  // [p][i]
  __shared__ double b_tile[kSteps][kTile];  // [p][j]
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  double sum[kEach][kEach] = {};
  for (std::int64_t step = 0; step < size.k; step += kSteps) {
    for (int e = thread; e < kSteps * kTile; e += kThreads * kThreads) {
      // Neighbouring threads read neighbouring elements of both operands as they are stored.
      const int ap = sa.across == 1 ? e % kSteps : e / kTile;
      const int ai = sa.across == 1 ? e / kSteps : e % kTile;
      const int bp = sb.across == 1 ? e / kTile : e % kSteps;
      const int bj = sb.across == 1 ? e % kTile : e / kSteps;
      const bool a_inside = row + ai < size.m && step + ap < size.k;
      const bool b_inside = column + bj < size.n && step + bp < size.k;
      a_tile[ap][ai] =
          a_inside ? to_double(a[(row + ai) * sa.down + (step + ap) * sa.across]) : 0.0;
      b_tile[bp][bj] =
          b_inside ? to_double(b[(step + bp) * sb.down + (column + bj) * sb.across]) : 0.0;
    }
    __syncthreads();  // both tiles are filled
    for (int p = 0; p < kSteps; ++p) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j)
          sum[i][j] +=
              a_tile[p][i * kThreads + threadIdx.y] * b_tile[p][j * kThreads + threadIdx.x];
      }
    }
    __syncthreads();  // both tiles were read
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t r = row + i * kThreads + threadIdx.y;
      const std::int64_t s = column + j * kThreads + threadIdx.x;
      if (r < size.m && s < size.n) out[r * size.n + s] = alpha * sum[i][j];
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads* kThreads)
    multiply_kernel(const T* a, Strides sa, const T* b, Strides sb, double* out, Sizes size,
                    double alpha) {
  for (std::int64_t z = blockIdx.z; z < size.batch; z += gridDim.z) {
    multiply_tile(a + z * sa.batch, sa, b + z * sb.batch, sb, out + z * size.m * size.n, size,
                  alpha);
  }
}

__device__ std::int64_t thread_index() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
__device__ std::int64_t thread_count() { return gridDim.x * static_cast<std::int64_t>(blockDim.x); }

/// Where element e of the dense product lies in C.
__device__ std::int64_t place_of(std::int64_t e, Strides sc, Sizes size) {
  const std::int64_t row = e / size.n;  // over the whole batch
  return row / size.m * sc.batch + row % size.m * sc.down + e % size.n;
}

template <typename U>
__global__ void add_kernel(const U* c, Strides sc, double* product, Sizes size, double beta) {
  const std::int64_t count = size.batch * size.m * size.n;
  for (std::int64_t e = thread_index(); e < count; e += thread_count())
    product[e] += beta * to_double(c[place_of(e, sc, size)]);
}

/// Sums of squares, and the largest difference.
struct Squares {
  double difference = 0;
  double product = 0;
  double largest = 0;
};

/// Doubles that are not negative order like their bits; not-a-number is larger than all.
__device__ void atomic_max(double* to, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(to),
            static_cast<unsigned long long>(__double_as_longlong(value)));
}

template <typename U>
__global__ void error_kernel(const U* result, Strides sc, const double* product, Sizes size,
                             Squares* squares) {
  Squares mine;
  const std::int64_t count = size.batch * size.m * size.n;
  for (std::int64_t e = thread_index(); e < count; e += thread_count()) {
    const double apart = fabs(to_double(result[place_of(e, sc, size)]) - product[e]);
    mine.difference += apart * apart;
    mine.product += product[e] * product[e];
    if (isnan(apart) || apart > mine.largest) mine.largest = apart;
  }
  atomicAdd(&squares->difference, mine.difference);
  atomicAdd(&squares->product, mine.product);
  atomic_max(&squares->largest, mine.largest);
}

Sizes sizes_of(const MatmulShape& shape) { return {shape.m, shape.n, shape.k, shape.batch}; }

unsigned blocks(std::int64_t count) { return static_cast<unsigned>((count + kTile - 1) / kTile); }

}  // namespace

bool MatmulReference::is_affordable(const MatmulShape& shape) {
  const double bytes = 8.0 * static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                       static_cast<double>(shape.n);
  constexpr unsigned kMostBlocksDown = 65535;
  return !shape.has_formula && shape.a.dtype == shape.b.dtype &&
         shape.operations() <= kMostOperations && bytes <= kMostBytes &&
         blocks(shape.m) <= kMostBlocksDown;
}

MatmulReference::MatmulReference(const MatmulShape& shape, const DeviceArray& a,
                                 const DeviceArray& b, const DeviceArray& c, cudaStream_t stream)
    : shape_(shape), stream_(stream), product_(DType::f64, shape.batch * shape.m * shape.n) {
  const dim3 grid(blocks(shape.n), blocks(shape.m),
                  static_cast<unsigned>(std::min<std::int64_t>(shape.batch, 65535)));
  with_type(a.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    multiply_kernel<T><<<grid, dim3(kThreads, kThreads), 0, stream>>>(
        a.as<const T>(), strides_of(shape.a, shape.trans_a), b.as<const T>(),
        strides_of(shape.b, shape.trans_b), product_.as<double>(), sizes_of(shape), shape.alpha);
  });
  if (shape.beta != 0) {
    with_type(c.dtype(), [&](auto* type) {
      using U = std::remove_pointer_t<decltype(type)>;
      add_kernel<U><<<1024, 256, 0, stream>>>(c.as<const U>(), strides_of(shape.c, false),
                                              product_.as<double>(), sizes_of(shape), shape.beta);
    });
  }
  KILN_CUDA(cudaGetLastError());
}

ProductError MatmulReference::error_of(const DeviceArray& result) const {
  const DeviceArray sums(sizeof(Squares));
  KILN_CUDA(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream_));
  with_type(result.dtype(), [&](auto* type) {
    using U = std::remove_pointer_t<decltype(type)>;
    error_kernel<U><<<1024, 256, 0, stream_>>>(result.as<const U>(), strides_of(shape_.c, false),
                                               product_.as<const double>(), sizes_of(shape_),
                                               sums.as<Squares>());
  });
  KILN_CUDA(cudaGetLastError());
  Squares squares;
  KILN_CUDA(
      cudaMemcpyAsync(&squares, sums.data(), sizeof squares, cudaMemcpyDeviceToHost, stream_));
  KILN_CUDA(cudaStreamSynchronize(stream_));
  const double count = static_cast<double>(product_.count());
  return {std::sqrt(squares.difference / squares.product),
          squares.largest / std::sqrt(squares.product / count)};
}

}  // namespace kiln::peers
