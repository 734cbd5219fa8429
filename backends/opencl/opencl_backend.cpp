// Finding devices, and making compilers and devices for them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_backend.hpp"

#include <utility>

#include <fmt/format.h>

#include "backends/opencl/opencl_device.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

void throw_unless(cl_int code, std::string_view call) {
  if (code != CL_SUCCESS) throw DeviceError(opencl_failure(code, call).message);
}

/// The device that `target` means: by architecture and name, then by architecture alone. The bare
/// architecture "opencl" (device_for_architecture) is the first device.
cl_device_id device_for(const DeviceInfo& target) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  if (target.architecture == "opencl") return entries.front().id;
  const OpenClDeviceEntry* match = nullptr;
  for (const OpenClDeviceEntry& entry : entries) {
    if (entry.info.architecture != target.architecture) continue;
    if (match == nullptr || entry.info.ordinal == target.ordinal) match = &entry;
  }
  if (match != nullptr) return match->id;
  throw DeviceError(fmt::format(
      "OpenCL compiles only for its own devices, and none here is '{}' (the first is '{}')",
      target.architecture, entries.front().info.architecture));
}

OpenClDeviceEntry entry_of(cl_device_id device) {
  for (OpenClDeviceEntry& entry : list_opencl_devices()) {
    if (entry.id == device) return std::move(entry);
  }
  throw DeviceError("the caller's OpenCL device belongs to no platform that is listed");
}

OwnedQueue make_queue(cl_context context, cl_device_id device) {
  cl_int code = CL_SUCCESS;
  OwnedQueue queue =
      own(opencl().create_command_queue(context, device, CL_QUEUE_PROFILING_ENABLE, &code));
  throw_unless(code, "clCreateCommandQueue");
  return queue;
}

OwnedContext retained(cl_context context) {
  throw_unless(opencl().retain_context(context), "clRetainContext");
  return own(context);
}

class OpenClBackend final : public Backend {
 public:
  std::string_view name() const override { return "opencl"; }
  std::string compiler_options() const override { return std::string(kOpenClOptions); }

  std::vector<DeviceInfo> devices() override {
    std::vector<DeviceInfo> infos;
    for (OpenClDeviceEntry& entry : list_opencl_devices()) infos.push_back(std::move(entry.info));
    return infos;
  }

  std::unique_ptr<Compiler> open_compiler(const DeviceInfo& target) override {
    return make_opencl_compiler(device_for(target));
  }

  std::unique_ptr<Device> open_device(int ordinal) override {
    std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= entries.size()) {
      throw DeviceError(fmt::format("no device opencl:{}: there are {}", ordinal, entries.size()));
    }
    OpenClDeviceEntry& entry = entries[static_cast<std::size_t>(ordinal)];
    cl_int code = CL_SUCCESS;
    OwnedContext context =
        own(opencl().create_context(nullptr, 1, &entry.id, nullptr, nullptr, &code));
    throw_unless(code, "clCreateContext");
    OwnedQueue queue = make_queue(context.get(), entry.id);
    return std::make_unique<OpenClDevice>(std::move(entry), std::move(context), std::move(queue),
                                          OpenClDevice::QueueOwner::device);
  }

  std::unique_ptr<Device> attach(const NativeQueue& native) override {
    if (native.queue != nullptr)
      return attach_to_queue(static_cast<cl_command_queue>(native.queue));
    if (native.context == nullptr || native.device == nullptr) {
      throw DeviceError("attaching to OpenCL needs a command queue, or a context and a device");
    }
    OwnedContext context = retained(static_cast<cl_context>(native.context));
    OpenClDeviceEntry entry = entry_of(static_cast<cl_device_id>(native.device));
    OwnedQueue queue = make_queue(context.get(), entry.id);
    return std::make_unique<OpenClDevice>(std::move(entry), std::move(context), std::move(queue),
                                          OpenClDevice::QueueOwner::device);
  }

 private:
  static std::unique_ptr<Device> attach_to_queue(cl_command_queue queue) {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    // NOLINTBEGIN(bugprone-sizeof-expression): the handles are pointers
    throw_unless(
        opencl().get_command_queue_info(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
        "clGetCommandQueueInfo");
    throw_unless(
        opencl().get_command_queue_info(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
        "clGetCommandQueueInfo");
    // NOLINTEND(bugprone-sizeof-expression)
    throw_unless(opencl().retain_command_queue(queue), "clRetainCommandQueue");
    OwnedQueue owned = own(queue);
    return std::make_unique<OpenClDevice>(entry_of(device), retained(context), std::move(owned),
                                          OpenClDevice::QueueOwner::caller);
  }
};

}  // namespace

std::unique_ptr<Backend> make_opencl_backend() { return std::make_unique<OpenClBackend>(); }

}  // namespace kiln
