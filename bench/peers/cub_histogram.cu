// The histograms of CUB: bytes by value, f32 and i32 into even bins.
// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_histogram.cuh>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

template <typename Sample, typename Level>
class CubHistogram final : public Peer {
 public:
  CubHistogram(const Workload& workload, Level low, Level high)
      : in_(workload.inputs.at("in")),
        counts_(workload.output_dtype, workload.output_count),
        low_(low),
        high_(high) {
    std::size_t bytes = 0;
    count(nullptr, bytes, nullptr);
    storage_ = DeviceArray(bytes);
  }

  std::string name() const override { return "CUB HistogramEven"; }
  void run(cudaStream_t stream) override {
    std::size_t bytes = storage_.bytes();
    count(storage_.data(), bytes, stream);
  }
  const DeviceArray* result() const override { return &counts_; }

 private:
  void count(void* storage, std::size_t& bytes, cudaStream_t stream) {
    const int levels = static_cast<int>(counts_.count()) + 1;
    KILN_CUDA(cub::DeviceHistogram::HistogramEven(storage, bytes, in_.as<Sample>(),
                                                  counts_.as<unsigned>(), levels, low_, high_,
                                                  in_.count(), stream));
  }

  const DeviceArray& in_;
  DeviceArray counts_;
  DeviceArray storage_;
  Level low_;
  Level high_;
};

}  // namespace

void add_cub_histogram(const Workload& workload, Peers& peers) {
  if (workload.kernel != "histogram") return;
  const auto bound = [&](const char* name) { return workload.scalars.at(name); };
  if (workload.is("dtype", "u8")) {
    peers.push_back(std::make_unique<CubHistogram<std::uint8_t, int>>(workload, 0, 256));
  } else if (workload.is("dtype", "f32")) {
    peers.push_back(std::make_unique<CubHistogram<float, float>>(
        workload, static_cast<float>(bound("low")), static_cast<float>(bound("high"))));
  } else if (workload.is("dtype", "i32")) {
    peers.push_back(std::make_unique<CubHistogram<std::int32_t, std::int32_t>>(
        workload, static_cast<std::int32_t>(bound("low")),
        static_cast<std::int32_t>(bound("high"))));
  }
}

}  // namespace kiln::peers
