// One CUDA device: its primary context, or a caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/fenced_memory.hpp"
#include "backends/cuda/nvml.hpp"
#include "backends/stream_device.hpp"

namespace kiln {

class CudaDevice final : public StreamDevice {
 public:
  /// The device's primary context, retained, and a stream of its own. Throws DeviceError.
  [[nodiscard]] static std::unique_ptr<CudaDevice> open(DeviceInfo info);
  /// A caller's context and stream (nullptr: the default stream).
  [[nodiscard]] static std::unique_ptr<CudaDevice> attach(DeviceInfo info, void* context,
                                                          void* stream);

  ~CudaDevice() override;

  Result<Buffer> allocate_fenced(std::size_t bytes) override;
  Result<TensorMapBytes> encode(const TensorMapPlan& plan, const Buffer& buffer) override;
  NativeQueue native() override { return {context_, nullptr, stream()}; }
  ClockState clock_state() override;
  std::string energy_unavailable() override;
  std::optional<double> energy_j() override;

 protected:
  int enter() override;
  void leave(int before) override;
  Failure failure_of(int code, std::string_view call, Outcome otherwise) const override;
  Status inspect(Kernel& kernel) override;
  Status prepare(Kernel& kernel, const Launch& launch) override;
  int enqueue(const Kernel& kernel, const Launch& launch, void* stream,
              void** parameters) const override;
  void release_own(Buffer buffer) override;

 private:
  CudaDevice(DeviceInfo info, void* context, bool owns_context);

  [[nodiscard]] NvmlDevice& nvml();
  void release_fences();

  void* context_;
  bool owns_context_;
  std::vector<FencedMemory> fences_;
  std::size_t fenced_bytes_ = 0;
  std::optional<NvmlDevice> nvml_;  // made by the first question
};

}  // namespace kiln
