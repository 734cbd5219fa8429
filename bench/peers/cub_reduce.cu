// The reductions of CUB: sum, min and max of a vector, and of the rows of a matrix.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

// Halves are combined in f32, as in Kiln, whose result is f32 too.
struct Sum {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};
struct Min {
  __host__ __device__ float operator()(float a, float b) const { return b < a ? b : a; }
};
struct Max {
  __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

template <typename In, typename Out>
class CubReduce final : public Peer {
 public:
  explicit CubReduce(const Workload& workload)
      : op_(workload.problem.text_of("op")),
        in_(workload.inputs.at("in")),
        out_(workload.output_dtype, workload.output_count) {
    std::size_t bytes = 0;
    reduce(nullptr, bytes, nullptr);
    storage_ = DeviceArray(bytes);
  }

  std::string name() const override {
    if (!std::is_same_v<In, Out>) return "CUB DeviceReduce::Reduce, f32 " + op_;
    return op_ == "sum"   ? "CUB DeviceReduce::Sum"
           : op_ == "min" ? "CUB DeviceReduce::Min"
                          : "CUB DeviceReduce::Max";
  }
  void run(cudaStream_t stream) override {
    std::size_t bytes = storage_.bytes();
    reduce(storage_.data(), bytes, stream);
  }
  const DeviceArray* result() const override { return &out_; }

 private:
  void reduce(void* storage, std::size_t& bytes, cudaStream_t stream) {
    const In* in = in_.as<In>();
    Out* out = out_.as<Out>();
    const std::int64_t n = in_.count();
    if constexpr (std::is_same_v<In, Out>) {
      KILN_CUDA(op_ == "sum"   ? cub::DeviceReduce::Sum(storage, bytes, in, out, n, stream)
                : op_ == "min" ? cub::DeviceReduce::Min(storage, bytes, in, out, n, stream)
                               : cub::DeviceReduce::Max(storage, bytes, in, out, n, stream));
    } else {
      constexpr Out kInfinity = std::numeric_limits<Out>::infinity();
      KILN_CUDA(
          op_ == "sum"
              ? cub::DeviceReduce::Reduce(storage, bytes, in, out, n, Sum{}, Out{0}, stream)
          : op_ == "min"
              ? cub::DeviceReduce::Reduce(storage, bytes, in, out, n, Min{}, kInfinity, stream)
              : cub::DeviceReduce::Reduce(storage, bytes, in, out, n, Max{}, -kInfinity, stream));
    }
  }

  std::string op_;
  const DeviceArray& in_;
  DeviceArray out_;
  DeviceArray storage_;
};

/// Where a row of a dense matrix begins.
struct RowBegin {
  std::int64_t n;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * n; }
};

template <typename T>
class CubRowReduce final : public Peer {
 public:
  explicit CubRowReduce(const Workload& workload)
      : op_(workload.problem.text_of("op")),
        rows_(workload.problem.integer("results")),
        n_(workload.problem.integer("n")),
        in_(workload.inputs.at("in")),
        out_(workload.output_dtype, workload.output_count) {
    std::size_t bytes = 0;
    reduce(nullptr, bytes, nullptr);
    storage_ = DeviceArray(bytes);
  }

  std::string name() const override {
    return op_ == "sum"   ? "CUB DeviceSegmentedReduce::Sum"
           : op_ == "min" ? "CUB DeviceSegmentedReduce::Min"
                          : "CUB DeviceSegmentedReduce::Max";
  }
  void run(cudaStream_t stream) override {
    std::size_t bytes = storage_.bytes();
    reduce(storage_.data(), bytes, stream);
  }
  const DeviceArray* result() const override { return &out_; }

 private:
  void reduce(void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto begins = thrust::make_transform_iterator(
        thrust::counting_iterator<std::int64_t>(0), RowBegin{n_});
    const T* in = in_.as<T>();
    T* out = out_.as<T>();
    using Cub = cub::DeviceSegmentedReduce;
    KILN_CUDA(op_ == "sum"
                  ? Cub::Sum(storage, bytes, in, out, rows_, begins, begins + 1, stream)
              : op_ == "min"
                  ? Cub::Min(storage, bytes, in, out, rows_, begins, begins + 1, stream)
                  : Cub::Max(storage, bytes, in, out, rows_, begins, begins + 1, stream));
  }

  std::string op_;
  std::int64_t rows_;
  std::int64_t n_;
  const DeviceArray& in_;
  DeviceArray out_;
  DeviceArray storage_;
};

void add_row_reduce(const Workload& workload, Peers& peers) {
  if (!workload.is("axis", "last")) return;
  switch (workload.inputs.at("in").dtype()) {
    case DType::f32:
      peers.push_back(std::make_unique<CubRowReduce<float>>(workload));
      break;
    case DType::f64:
      peers.push_back(std::make_unique<CubRowReduce<double>>(workload));
      break;
    case DType::i32:
      peers.push_back(std::make_unique<CubRowReduce<std::int32_t>>(workload));
      break;
    default:
      break;
  }
}

}  // namespace

void add_cub_reduce(const Workload& workload, Peers& peers) {
  if (workload.kernel != "reduce" || workload.is("op", "dot") || !workload.is("source", "array"))
    return;
  if (!workload.is("map", "x")) return;
  if (workload.problem.integer("results") > 1) return add_row_reduce(workload, peers);
  switch (workload.inputs.at("in").dtype()) {
    case DType::f32:
      peers.push_back(std::make_unique<CubReduce<float, float>>(workload));
      break;
    case DType::f64:
      peers.push_back(std::make_unique<CubReduce<double, double>>(workload));
      break;
    case DType::i32:
      peers.push_back(std::make_unique<CubReduce<std::int32_t, std::int32_t>>(workload));
      break;
    case DType::f16:
      peers.push_back(std::make_unique<CubReduce<__half, float>>(workload));
      break;
    case DType::bf16:
      peers.push_back(std::make_unique<CubReduce<__nv_bfloat16, float>>(workload));
      break;
    default:
      break;
  }
}

}  // namespace kiln::peers
