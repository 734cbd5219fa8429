// One call of CUB as a C function. memory_bound.py compiles it once for each call and types:
//
//   nvcc -shared -DCALL=REDUCE -DIN=float -DOUT=float -DOP=Sum ...
//
// CALL: REDUCE (an array), REDUCE_HALVES (in f32, as Kiln does), ROWS (of a matrix), ARG (index and
// value of an element), ARG_ROWS, HISTOGRAM (even bins). OP: Sum, Min, Max, ArgMin or ArgMax.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <limits>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>

#define REDUCE 1
#define REDUCE_HALVES 2
#define ROWS 3
#define ARG 4
#define ARG_ROWS 5
#define HISTOGRAM 6
#if CALL == ARG_ROWS
#include <thrust/iterator/tabulate_output_iterator.h>
#endif

namespace {

// What REDUCE_HALVES combines by.
struct Sum {
  static constexpr float begin = 0;
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};
struct Min {
  static constexpr float begin = std::numeric_limits<float>::infinity();
  __host__ __device__ float operator()(float a, float b) const { return b < a ? b : a; }
};
struct Max {
  static constexpr float begin = -std::numeric_limits<float>::infinity();
  __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

/// Where a row of a dense matrix begins.
struct RowBegin {
  std::int64_t n;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * n; }
};

/// CUB gives pairs of a row; this puts their parts where Kiln's go.
struct StoreParts {
  std::int64_t* index;
  IN* value;
  template <typename Row, typename Pair>
  __device__ void operator()(Row row, const Pair& pair) const {
    index[row] = pair.key;
    value[row] = pair.value;
  }
};

}  // namespace

extern "C" int cub_version() { return CUB_VERSION; }

/// `n`: elements of the array or of each row. `storage` null: only sets `bytes`. `value`: beside
/// the index. `low`, `high`: ends of the even bins, as many as `rows`. Returns a cudaError_t.
extern "C" int cub_run(void* storage, std::size_t* bytes, const void* input, void* output,
                       void* value, std::int64_t n, std::int64_t rows, double low, double high,
                       void* on) {
  const auto* in = static_cast<const IN*>(input);
  auto* out = static_cast<OUT*>(output);
  const auto stream = static_cast<cudaStream_t>(on);
  [[maybe_unused]] const auto begins =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowBegin{n});
#if CALL == REDUCE
  return cub::DeviceReduce::OP(storage, *bytes, in, out, n, stream);
#elif CALL == REDUCE_HALVES
  return cub::DeviceReduce::Reduce(storage, *bytes, in, out, n, OP{}, OP::begin, stream);
#elif CALL == ROWS
  return cub::DeviceSegmentedReduce::OP(storage, *bytes, in, out, rows, begins, begins + 1, stream);
#elif CALL == ARG
  return cub::DeviceReduce::OP(storage, *bytes, in, static_cast<IN*>(value), out, n, stream);
#elif CALL == ARG_ROWS
  const auto pairs =
      thrust::make_tabulate_output_iterator(StoreParts{out, static_cast<IN*>(value)});
  using Cub = cub::DeviceSegmentedReduce;
  return Cub::OP(storage, *bytes, in, pairs, rows, begins, begins + 1, stream);
#else
  return cub::DeviceHistogram::HistogramEven(storage, *bytes, in, out, static_cast<int>(rows) + 1,
                                             static_cast<LEVEL>(low), static_cast<LEVEL>(high), n,
                                             stream);
#endif
}
