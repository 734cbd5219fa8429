// Launching an OpenCL kernel: limits first, then shared memory and arguments, then the range.
//
// Arguments in the order of the dialect's parameters: the call's own, the constants
// (CONSTANT_PARAM) in the order of the step, the dynamic shared memory (DYNAMIC_SHARED_PARAM) if
// the kernel has one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/opencl/opencl_device.hpp"

namespace kiln {
namespace {

// Windows are few (one a guarded buffer and size); the limit stops a caller that never releases.
constexpr std::size_t kMaxWindows = 1024;

Failure refused(std::string message) { return {Outcome::launch_error, std::move(message)}; }

std::size_t thread_count(const Launch& launch) {
  return std::size_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

Failure wrong_count(const OpenClKernel& kernel, std::size_t given) {
  return refused(fmt::format("kernel '{}' has {} parameters, the step gives {}", kernel.name,
                             kernel.parameter_count, given));
}

}  // namespace

/// The memory object a kernel gets: the allocation itself, or a cached window into it.
Result<cl_mem> OpenClDevice::memory_of(const Buffer& buffer) {
  if (buffer.offset == 0) return reinterpret_cast<cl_mem>(buffer.handle);
  if (buffer.bytes == 0) return cl_mem{nullptr};  // no window is empty; a null argument is legal
  for (const Window& window : windows_) {
    if (window.parent == buffer.handle && window.offset == buffer.offset &&
        window.bytes == buffer.bytes) {
      return window.memory.get();
    }
  }
  const cl_buffer_region region{buffer.offset, buffer.bytes};
  cl_int code = CL_SUCCESS;
  OwnedMemory memory =
      own(opencl().create_sub_buffer(reinterpret_cast<cl_mem>(buffer.handle), CL_MEM_READ_WRITE,
                                     CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  if (code != CL_SUCCESS) {
    return opencl_failure(
        code, fmt::format("clCreateSubBuffer at {}, {} bytes", buffer.offset, buffer.bytes));
  }
  windows_.push_back({buffer.handle, buffer.offset, buffer.bytes, std::move(memory)});
  return windows_.back().memory.get();
}

/// What PoCL would answer with an abort, and others with a bare code.
Status OpenClDevice::check_limits(const Launch& launch, const OpenClKernel& kernel) const {
  const std::size_t threads = thread_count(launch);
  if (entry_.info.is_cpu && threads > kernel.max_threads) {
    return refused(fmt::format("block of {} threads: kernel '{}' allows {}", threads, kernel.name,
                               kernel.max_threads));
  }
  // GPU drivers refuse too much on their own; what NVIDIA's reports is not what it allows: 256
  // threads where the kernel asks for 512, and a placeholder for the dynamic part counted in.
  const std::size_t fixed = entry_.info.is_cpu ? kernel.static_shared_bytes : 0;
  std::size_t shared = fixed + launch.shared_bytes;
  for (const KernelArgument& argument : launch.arguments) {
    if (argument.kind == KernelArgument::Kind::local) shared += argument.scalar_bytes;
  }
  const auto limit = static_cast<std::size_t>(entry_.info.max_shared_bytes);
  if (shared > limit) {
    return refused(fmt::format("kernel '{}' needs {} bytes of shared memory, the device has {}",
                               kernel.name, shared, limit));
  }
  if (launch.cluster != std::array<std::uint32_t, 3>{1, 1, 1})
    return refused("OpenCL has no block clusters");
  if (takes_tensor_maps(launch)) return refused("OpenCL has no tensor maps");
  for (const ConstantArgument& constant : launch.constants) {
    if (constant.bytes > max_constant_bytes_) {
      return refused(fmt::format("constant '{}' of {} bytes: the device allows {}", constant.name,
                                 constant.bytes, max_constant_bytes_));
    }
  }
  return Done{};
}

/// The parameters that the step gives, and at most the dynamic shared memory behind them, which
/// never changes and is set here: drivers take a size without a value for such a parameter only.
Status set_shared_memory(const Launch& launch, const OpenClKernel& kernel) {
  const std::size_t given = launch.arguments.size() + launch.constants.size();
  const bool may_have_dynamic_shared = kernel.parameter_count == given + 1;
  const auto last = static_cast<cl_uint>(given);
  if (!may_have_dynamic_shared && kernel.parameter_count != given) {
    return wrong_count(kernel, given);
  }
  if (launch.shared_bytes > 0 && !may_have_dynamic_shared) {
    return refused(fmt::format("kernel '{}' has no DYNAMIC_SHARED_PARAM, the step gives {} bytes",
                               kernel.name, launch.shared_bytes));
  }
  if (!may_have_dynamic_shared) return Done{};
  const cl_int code = opencl().set_kernel_arg(
      kernel.handle.get(), last, std::max<std::size_t>(launch.shared_bytes, 1), nullptr);
  if (code == CL_INVALID_ARG_SIZE || code == CL_INVALID_ARG_VALUE) {
    return wrong_count(kernel, given);
  }
  if (code != CL_SUCCESS) return parameter_failure(code, kernel, last);
  return Done{};
}

Failure parameter_failure(cl_int code, const OpenClKernel& kernel, cl_uint index) {
  return opencl_failure(code, fmt::format("clSetKernelArg {} of '{}'", index, kernel.name));
}

Status OpenClDevice::set_arguments(const Launch& launch, const OpenClKernel& kernel) {
  cl_kernel handle = kernel.handle.get();
  cl_uint index = 0;
  const auto set_memory = [&](const Buffer& buffer) -> Status {
    const Result<cl_mem> memory = memory_of(buffer);
    if (!memory) return memory.failure();
    const cl_int code = opencl().set_kernel_arg(handle, index, sizeof(cl_mem), &*memory);
    if (code != CL_SUCCESS) return parameter_failure(code, kernel, index);
    ++index;
    return Done{};
  };
  for (const KernelArgument& argument : launch.arguments) {
    if (argument.kind == KernelArgument::Kind::buffer) {
      if (Status status = set_memory(argument.buffer); !status) return status;
      continue;
    }
    const bool is_local = argument.kind == KernelArgument::Kind::local;
    const cl_int code =
        is_local
            ? opencl().set_kernel_arg(handle, index,
                                      std::max<std::size_t>(argument.scalar_bytes, 1), nullptr)
            : opencl().set_kernel_arg(handle, index, argument.scalar_bytes, argument.scalar.data());
    if (code != CL_SUCCESS) return parameter_failure(code, kernel, index);
    ++index;
  }
  for (const ConstantArgument& constant : launch.constants) {
    if (Status status = set_memory(constant.buffer); !status) return status;
  }
  return Done{};
}

Status OpenClDevice::launch(const Launch& launch) {
  Result<const OpenClKernel*> kernel =
      static_cast<OpenClModule*>(launch.module)->kernel(launch.entry);
  if (!kernel) return kernel.failure();
  if (Status status = check_limits(launch, **kernel); !status) return status;
  if (Status status = set_shared_memory(launch, **kernel); !status) return status;
  // Between launches only: a kernel does not keep the objects alive that it was given so far.
  if (windows_.size() >= kMaxWindows) windows_.clear();
  if (Status status = set_arguments(launch, **kernel); !status) return status;

  const cl_int code = enqueue_range(queue_, (*kernel)->handle.get(), launch);
  if (code != CL_SUCCESS) return range_failure(code, launch);
  return keep_order();
}

cl_int enqueue_range(cl_command_queue queue, cl_kernel kernel, const Launch& launch) {
  std::array<std::size_t, 3> local{};
  std::array<std::size_t, 3> global{};
  for (std::size_t i = 0; i < 3; ++i) {
    local[i] = launch.block[i];
    global[i] = std::size_t{launch.grid[i]} * launch.block[i];
  }
  return opencl().enqueue_nd_range_kernel(queue, kernel, 3, nullptr, global.data(), local.data(), 0,
                                          nullptr, nullptr);
}

Failure range_failure(cl_int code, const Launch& launch) {
  return opencl_failure(
      code, fmt::format("clEnqueueNDRangeKernel '{}', {}x{}x{} blocks of {}x{}x{}", launch.entry,
                        launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                        launch.block[1], launch.block[2]));
}

}  // namespace kiln
