// The driver's own copy of as many bytes as the problem must move: a ceiling for kernels that only
// move data.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/cuda_check.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

class DeviceCopy final : public Peer {
 public:
  /// `bytes`: read and written together.
  explicit DeviceCopy(std::size_t bytes) : from_(bytes / 2), to_(bytes / 2) {
    KILN_CUDA(cudaMemset(from_.data(), 0x5a, from_.bytes()));
  }

  std::string name() const override { return "cudaMemcpyAsync of the same bytes"; }
  void run(cudaStream_t stream) override {
    KILN_CUDA(
        cudaMemcpyAsync(to_.data(), from_.data(), from_.bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  const DeviceArray* result() const override { return nullptr; }

 private:
  DeviceArray from_;
  DeviceArray to_;
};

}  // namespace

void add_device_copy(const Workload& workload, Peers& peers) {
  const bool moves_data = workload.kernel == "arg_reduce" || workload.kernel == "reduce" ||
                          workload.kernel == "histogram" || workload.kernel == "transpose" ||
                          workload.kernel == "preprocess";
  if (moves_data && workload.cost.bytes >= 2) {
    peers.push_back(std::make_unique<DeviceCopy>(static_cast<std::size_t>(workload.cost.bytes)));
  }
}

}  // namespace kiln::peers
