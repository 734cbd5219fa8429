// Launches made ready beforehand. Each has a kernel object of its own, so that different ones can
// run in different threads.
//
// Memory is given to the kernel anew at each run: a cl_mem may have been released since and another
// made at its address. Scalars are given when they changed.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/opencl/opencl_device.hpp"

namespace kiln {
namespace {

/// The queue is asked each time: the application may have released it and made another at its
/// address. A barrier after each command makes one that reorders behave like ours.
Status keep_order(cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  KILN_OPENCL_TRY(get_command_queue_info, queue, CL_QUEUE_PROPERTIES, sizeof properties,
                  &properties, nullptr);
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    KILN_OPENCL_TRY(enqueue_barrier_with_wait_list, queue, 0, nullptr, nullptr);
  }
  return Done{};
}

/// What a kernel gets for a buffer: the memory itself or, OpenCL having no pointer arithmetic, the
/// last window into it, which keeps the memory alive until another takes its place.
class MemoryParameter {
 public:
  [[nodiscard]] Status set(const OpenClKernel& kernel, cl_uint index, const Buffer& buffer) {
    cl_mem memory = buffer.bytes == 0 ? nullptr : as_memory(buffer);
    if (buffer.offset != 0 && buffer.bytes != 0) {
      if (Status status = move_window(buffer); !status) return status;
      memory = window_.get();
    }
    const cl_int code =
        opencl().set_kernel_arg(kernel.handle.get(), index, sizeof(cl_mem), &memory);
    if (code != CL_SUCCESS) return parameter_failure(code, kernel, index);
    return Done{};
  }

 private:
  Status move_window(const Buffer& buffer) {
    if (window_ != nullptr && shown_.handle == buffer.handle && shown_.offset == buffer.offset &&
        shown_.bytes == buffer.bytes) {
      return Done{};
    }
    const cl_buffer_region region{buffer.offset, buffer.bytes};
    cl_int code = CL_SUCCESS;
    OwnedMemory window = own(opencl().create_sub_buffer(
        as_memory(buffer), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    if (code != CL_SUCCESS) {
      return opencl_failure(
          code, fmt::format("clCreateSubBuffer at {}, {} bytes", buffer.offset, buffer.bytes));
    }
    window_ = std::move(window);
    shown_ = buffer;
    return Done{};
  }

  OwnedMemory window_;
  Buffer shown_;
};

struct ScalarParameter {
  std::array<std::byte, 8> value{};
  bool is_set = false;
};

class PreparedRange final : public PreparedLaunch {
 public:
  PreparedRange(cl_command_queue queue, OpenClKernel kernel, const Launch& launch)
      : queue_(queue),
        kernel_(std::move(kernel)),
        launch_(launch),
        memories_(launch.arguments.size() + launch.constants.size()),
        scalars_(launch.arguments.size()) {}

  Status run() override {
    cl_uint index = 0;
    for (const KernelArgument& argument : launch_.arguments) {
      Status status = argument.kind == KernelArgument::Kind::buffer
                          ? set_memory(index, argument.buffer)
                          : set_scalar(index, argument);
      if (!status) return status;
      ++index;
    }
    for (const ConstantArgument& constant : launch_.constants) {
      if (Status status = set_memory(index, constant.buffer); !status) return status;
      ++index;
    }
    const cl_int code = enqueue_range(queue_, kernel_.handle.get(), launch_);
    if (code != CL_SUCCESS) return range_failure(code, launch_);
    return keep_order(queue_);
  }

 private:
  [[nodiscard]] Status set_memory(cl_uint index, const Buffer& buffer) {
    return memories_[index].set(kernel_, index, buffer);
  }
  [[nodiscard]] Status set_scalar(cl_uint index, const KernelArgument& argument) {
    ScalarParameter& known = scalars_[index];
    if (known.is_set && known.value == argument.scalar) return Done{};
    const cl_int code = opencl().set_kernel_arg(kernel_.handle.get(), index, argument.scalar_bytes,
                                                argument.scalar.data());
    if (code != CL_SUCCESS) return parameter_failure(code, kernel_, index);
    known = {argument.scalar, true};
    return Done{};
  }

  cl_command_queue queue_;
  OpenClKernel kernel_;
  const Launch launch_;
  std::vector<MemoryParameter> memories_;  ///< by parameter; empty ones for scalars
  std::vector<ScalarParameter> scalars_;
};

class PreparedFill final : public PreparedLaunch {
 public:
  PreparedFill(cl_command_queue queue, const Buffer& buffer, std::size_t widest)
      : queue_(queue), buffer_(buffer), widest_(widest) {}

  Status run() override {
    if (buffer_.bytes == 0) return Done{};
    const cl_int code =
        enqueue_fill(queue_, as_memory(buffer_), buffer_.offset, buffer_.bytes, 0, widest_);
    if (code != CL_SUCCESS) return opencl_failure(code, "clEnqueueFillBuffer");
    return keep_order(queue_);
  }

 private:
  cl_command_queue queue_;
  const Buffer& buffer_;
  std::size_t widest_;
};

/// Two markers, whose ends are the times.
class MarkerTimer final : public QueueTimer {
 public:
  explicit MarkerTimer(cl_command_queue queue) : queue_(queue) {}

  Status start() override { return mark(first_); }
  Status stop() override { return mark(last_); }
  Result<std::optional<double>> elapsed_ns() override {
    cl_int status = CL_QUEUED;
    KILN_OPENCL_TRY(get_event_info, last_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                    &status, nullptr);
    if (status < 0) return opencl_failure(status, "a timed launch", Outcome::device_fault);
    if (status != CL_COMPLETE) return std::optional<double>();
    std::array<cl_ulong, 2> ends{};
    KILN_OPENCL_TRY(get_event_profiling_info, first_.get(), CL_PROFILING_COMMAND_END,
                    sizeof ends[0], ends.data(), nullptr);
    KILN_OPENCL_TRY(get_event_profiling_info, last_.get(), CL_PROFILING_COMMAND_END, sizeof ends[1],
                    &ends[1], nullptr);
    return std::optional<double>(static_cast<double>(ends[1]) - static_cast<double>(ends[0]));
  }

 private:
  [[nodiscard]] Status mark(OwnedEvent& event) {
    cl_event marker = nullptr;
    KILN_OPENCL_TRY(enqueue_marker_with_wait_list, queue_, 0, nullptr, &marker);
    event = own(marker);
    return keep_order(queue_);
  }

  cl_command_queue queue_;
  OwnedEvent first_;
  OwnedEvent last_;
};

}  // namespace

Result<std::unique_ptr<QueueTimer>> OpenClDevice::make_timer(void* queue) {
  cl_command_queue timed = queue_or_own(queue);
  cl_command_queue_properties properties = 0;
  KILN_OPENCL_TRY(get_command_queue_info, timed, CL_QUEUE_PROPERTIES, sizeof properties,
                  &properties, nullptr);
  if ((properties & CL_QUEUE_PROFILING_ENABLE) == 0) {
    return Failure{Outcome::launch_error, "the queue was made without CL_QUEUE_PROFILING_ENABLE"};
  }
  return std::unique_ptr<QueueTimer>(std::make_unique<MarkerTimer>(timed));
}

Result<std::unique_ptr<PreparedLaunch>> OpenClDevice::prepare_launch(const Launch& launch,
                                                                     void* queue) {
  Result<OpenClKernel> kernel =
      static_cast<OpenClModule*>(launch.module)->make_kernel(launch.entry);
  if (!kernel) return kernel.failure();
  if (Status status = check_limits(launch, *kernel); !status) return status.failure();
  if (Status status = set_shared_memory(launch, *kernel); !status) return status.failure();
  return std::unique_ptr<PreparedLaunch>(
      std::make_unique<PreparedRange>(queue_or_own(queue), std::move(*kernel), launch));
}

Result<std::unique_ptr<PreparedLaunch>> OpenClDevice::prepare_clear(const Buffer& buffer,
                                                                    void* queue) {
  return std::unique_ptr<PreparedLaunch>(
      std::make_unique<PreparedFill>(queue_or_own(queue), buffer, widest_fill(entry_.info)));
}

}  // namespace kiln
