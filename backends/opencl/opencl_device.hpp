// One OpenCL device with one in-order queue.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "backends/opencl/fenced_pages.hpp"
#include "backends/opencl/opencl_devices.hpp"
#include "backends/opencl/opencl_program.hpp"

namespace kiln {

/// The OpenCL memory that a buffer is a window of.
[[nodiscard]] inline cl_mem as_memory(const Buffer& buffer) {
  return reinterpret_cast<cl_mem>(buffer.handle);
}

/// clEnqueueFillBuffer of `bytes` bytes from `offset` on, with a pattern of at most `widest` bytes:
/// GPUs' drivers are slow byte by byte, PoCL is fastest then (memset).
[[nodiscard]] cl_int enqueue_fill(cl_command_queue queue, cl_mem memory, std::size_t offset,
                                  std::size_t bytes, std::uint8_t byte, std::size_t widest);
/// The widest pattern for a device.
[[nodiscard]] inline std::size_t widest_fill(const DeviceInfo& device) {
  return device.is_cpu ? 1 : 16;
}

/// Sets the kernel's dynamic shared memory, if it has any; a Failure when its parameters are not
/// those that the launch gives.
[[nodiscard]] Status set_shared_memory(const Launch& launch, const OpenClKernel& kernel);
/// Of a clSetKernelArg: names kernel and parameter.
[[nodiscard]] Failure parameter_failure(cl_int code, const OpenClKernel& kernel, cl_uint index);
/// The range itself; `kernel` has its arguments.
[[nodiscard]] cl_int enqueue_range(cl_command_queue queue, cl_kernel kernel, const Launch& launch);
[[nodiscard]] Failure range_failure(cl_int code, const Launch& launch);

class OpenClDevice final : public Device {
 public:
  /// Whose queue it is: one that nobody else can wait for is waited for by the destructor.
  enum class QueueOwner { device, caller };
  /// `own_queue` may be a caller's, retained. Throws DeviceError when the queue cannot be asked.
  OpenClDevice(OpenClDeviceEntry entry, OwnedContext context, OwnedQueue own_queue,
               QueueOwner owner);
  ~OpenClDevice() override;
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;

  const DeviceInfo& info() const override { return entry_.info; }

  Result<Buffer> allocate(std::size_t bytes) override;
  /// On CPUs only: others keep a copy of their own.
  Result<Buffer> allocate_fenced(std::size_t bytes) override;
  void release(Buffer buffer) override;
  Status upload(Buffer to, std::size_t offset, std::span<const std::byte> from) override;
  Status download(Buffer from, std::size_t offset, std::span<std::byte> to) override;
  Status copy(Buffer from, std::size_t from_offset, Buffer to, std::size_t to_offset,
              std::size_t bytes) override;
  Status fill(Buffer to, std::size_t offset, std::size_t bytes, std::uint8_t byte) override;

  Result<std::unique_ptr<Module>> load(const Binary& binary) override;
  Status launch(const Launch& launch) override;
  Result<std::unique_ptr<PreparedLaunch>> prepare_launch(const Launch& launch,
                                                         void* queue) override;
  Result<std::unique_ptr<PreparedLaunch>> prepare_clear(const Buffer& buffer, void* queue) override;

  Result<EventId> record() override;
  Result<double> elapsed_ns(EventId from, EventId to) override;
  Status synchronize() override;
  Result<std::unique_ptr<QueueTimer>> make_timer(void* queue) override;
  void use_queue(void* queue) override;

 private:
  struct Allocation {
    FencedPages pages;  ///< what `memory` lies in; of fenced memory only
    OwnedMemory memory;
    std::size_t bytes = 0;
  };
  /// A window into an allocation: OpenCL has no pointer arithmetic, so kernels get a sub-buffer.
  struct Window {
    std::uintptr_t parent = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    OwnedMemory memory;
  };
  /// A marker on the queue; on a queue without profiling, the host's clock after the queue ran dry.
  struct Event {
    OwnedEvent marker;
    std::chrono::steady_clock::time_point host_time;
  };

  void inspect_queue();
  [[nodiscard]] Status check_room(std::size_t bytes) const;
  [[nodiscard]] Status keep_order();
  [[nodiscard]] Result<cl_mem> memory_of(const Buffer& buffer);
  [[nodiscard]] Status check_limits(const Launch& launch, const OpenClKernel& kernel) const;
  [[nodiscard]] cl_command_queue queue_or_own(void* queue) const;
  [[nodiscard]] Status set_arguments(const Launch& launch, const OpenClKernel& kernel);

  OpenClDeviceEntry entry_;
  OwnedContext context_;
  OwnedQueue own_queue_;
  QueueOwner owner_;
  cl_command_queue queue_ = nullptr;
  bool has_profiling_ = false;
  bool out_of_order_ = false;
  std::size_t allocated_bytes_ = 0;
  std::size_t max_constant_bytes_ = 0;
  std::vector<Allocation> allocations_;
  std::vector<Window> windows_;
  std::vector<Event> events_;
  EventId next_event_ = 0;
};

}  // namespace kiln
