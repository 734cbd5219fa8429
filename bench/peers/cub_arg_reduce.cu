// The index of the smallest or largest element by CUB: of a vector, and of the rows of a matrix.
//
// CUB takes the first of equal elements, as Kiln does, so that indices must be equal. Its value goes
// beside the index, as Kiln's. Toolkits whose CUB gives no 64-bit index (before CCCL 3) have no such
// peer.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>

#include <limits>

#include <cub/version.cuh>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/peer.hpp"

#if CUB_VERSION >= 300000
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#endif

namespace kiln::peers {

#if CUB_VERSION >= 300000
namespace {

template <typename T>
class CubArgReduce final : public Peer {
 public:
  explicit CubArgReduce(const Workload& workload)
      : smallest_(workload.is("op", "min")),
        in_(workload.inputs.at("in")),
        index_(workload.output_dtype, workload.output_count),
        value_(in_.dtype(), workload.output_count) {
    std::size_t bytes = 0;
    find(nullptr, bytes, nullptr);
    storage_ = DeviceArray(bytes);
  }

  std::string name() const override {
    return smallest_ ? "CUB DeviceReduce::ArgMin" : "CUB DeviceReduce::ArgMax";
  }
  void run(cudaStream_t stream) override {
    std::size_t bytes = storage_.bytes();
    find(storage_.data(), bytes, stream);
  }
  const DeviceArray* result() const override { return &index_; }

 private:
  void find(void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* in = in_.as<T>();
    T* value = value_.as<T>();
    auto* index = index_.as<std::int64_t>();
    const std::int64_t n = in_.count();
    using Cub = cub::DeviceReduce;
    KILN_CUDA(smallest_ ? Cub::ArgMin(storage, bytes, in, value, index, n, stream)
                        : Cub::ArgMax(storage, bytes, in, value, index, n, stream));
  }

  bool smallest_;
  const DeviceArray& in_;
  DeviceArray index_;
  DeviceArray value_;
  DeviceArray storage_;
};

/// Where a row of a dense matrix begins.
struct RowBegin {
  std::int64_t n;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * n; }
};

/// CUB gives pairs; this puts their parts where Kiln's go.
template <typename T>
struct StoreParts {
  std::int64_t* index;
  T* value;
  template <typename Row, typename Pair>
  __device__ void operator()(Row row, const Pair& pair) const {
    index[row] = pair.key;
    value[row] = pair.value;
  }
};

template <typename T>
class CubRowArgReduce final : public Peer {
 public:
  explicit CubRowArgReduce(const Workload& workload)
      : smallest_(workload.is("op", "min")),
        rows_(workload.problem.integer("results")),
        n_(workload.problem.integer("n")),
        in_(workload.inputs.at("in")),
        index_(workload.output_dtype, workload.output_count),
        value_(in_.dtype(), workload.output_count) {
    std::size_t bytes = 0;
    find(nullptr, bytes, nullptr);
    storage_ = DeviceArray(bytes);
  }

  std::string name() const override {
    return smallest_ ? "CUB DeviceSegmentedReduce::ArgMin" : "CUB DeviceSegmentedReduce::ArgMax";
  }
  void run(cudaStream_t stream) override {
    std::size_t bytes = storage_.bytes();
    find(storage_.data(), bytes, stream);
  }
  const DeviceArray* result() const override { return &index_; }

 private:
  void find(void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto begins = thrust::make_transform_iterator(
        thrust::counting_iterator<std::int64_t>(0), RowBegin{n_});
    const auto out = thrust::make_tabulate_output_iterator(
        StoreParts<T>{index_.as<std::int64_t>(), value_.as<T>()});
    const T* in = in_.as<T>();
    using Cub = cub::DeviceSegmentedReduce;
    KILN_CUDA(smallest_ ? Cub::ArgMin(storage, bytes, in, out, rows_, begins, begins + 1, stream)
                        : Cub::ArgMax(storage, bytes, in, out, rows_, begins, begins + 1, stream));
  }

  bool smallest_;
  std::int64_t rows_;
  std::int64_t n_;
  const DeviceArray& in_;
  DeviceArray index_;
  DeviceArray value_;
  DeviceArray storage_;
};

template <typename T>
void add(const Workload& workload, Peers& peers) {
  if (workload.problem.integer("results") == 1) {
    peers.push_back(std::make_unique<CubArgReduce<T>>(workload));
  } else if (workload.inputs.at("in").count() <= std::numeric_limits<int>::max()) {
    // CUB counts the elements of all rows together in 32 bits.
    peers.push_back(std::make_unique<CubRowArgReduce<T>>(workload));
  }
}

}  // namespace

void add_cub_arg_reduce(const Workload& workload, Peers& peers) {
  if (workload.kernel != "arg_reduce") return;
  switch (workload.inputs.at("in").dtype()) {
    case DType::f32:
      return add<float>(workload, peers);
    case DType::f64:
      return add<double>(workload, peers);
    case DType::i32:
      return add<std::int32_t>(workload, peers);
    case DType::f16:
      return add<__half>(workload, peers);
    default:
      return;
  }
}
#else
void add_cub_arg_reduce(const Workload&, Peers&) {}
#endif

}  // namespace kiln::peers
