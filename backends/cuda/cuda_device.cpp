// What is CUDA's own about a device: contexts, shared memory above 48 KiB, clusters, clocks.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "backends/alignment.hpp"
#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/tensor_map.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

// Larger clusters than this are not on every GPU of an architecture: they must be asked for.
constexpr std::uint32_t kPortableClusterBlocks = 8;

constexpr std::int64_t kFencedPart = 20;  // one in so many bytes of the device

constexpr std::array<std::uint32_t, 3> kNoCluster = {1, 1, 1};

int attribute_number(CudaFunctionAttribute attribute) { return static_cast<int>(attribute); }

/// 0 where the driver does not tell.
std::size_t parameter_count(void* function) {
  constexpr std::size_t kMost = 4096;  // more than any kernel has: the driver ends it before
  std::size_t count = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  while (count < kMost && cuda().function_get_parameter != nullptr &&
         cuda().function_get_parameter(function, count, &offset, &bytes) == 0) {
    ++count;
  }
  return count;
}

}  // namespace

CudaDevice::CudaDevice(DeviceInfo info, void* context, bool owns_context)
    : StreamDevice(cuda().stream, std::move(info)),
      context_(context),
      owns_context_(owns_context) {}

std::unique_ptr<CudaDevice> CudaDevice::open(DeviceInfo info) {
  void* context = nullptr;
  const int code = cuda().primary_context_retain(&context, info.ordinal);
  if (code != 0) throw DeviceError(cuda_failure(code, "cuDevicePrimaryCtxRetain").message);
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(std::move(info), context, /*owns_context=*/true));
  device->open_stream();
  return device;
}

std::unique_ptr<CudaDevice> CudaDevice::attach(DeviceInfo info, void* context, void* stream) {
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(std::move(info), context, /*owns_context=*/false));
  device->adopt_stream(stream);
  return device;
}

CudaDevice::~CudaDevice() {
  release_fences();
  close();
  // A CUdevice is the ordinal it was got by; the context was retained under it.
  if (owns_context_) cuda().primary_context_release(info().ordinal);
}

// --- Fenced memory ------------------------------------------------------------------------------

Result<Buffer> CudaDevice::allocate_fenced(std::size_t bytes) {
  if (static_cast<std::int64_t>(fenced_bytes_ + bytes) > info().global_bytes / kFencedPart)
    return Failure{Outcome::out_of_memory, "a twentieth of the device is fenced memory already"};
  const Current current(*this);
  Result<FencedMemory> memory = FencedMemory::map(info().ordinal, bytes);
  if (!memory) return memory.failure();
  const std::size_t used = round_up(bytes, kWindowAlignment);
  fences_.push_back(std::move(*memory));
  fenced_bytes_ += fences_.back().bytes();
  return Buffer{fences_.back().address(), used, fences_.back().bytes() - used};
}

/// The driver does not wait for work that still uses what is unmapped.
void CudaDevice::release_own(Buffer buffer) {
  const auto found = std::find_if(fences_.begin(), fences_.end(), [&](const FencedMemory& memory) {
    return memory.address() == buffer.handle;
  });
  if (found == fences_.end()) return;
  (void)synchronize();  // its failure has been seen, or will be
  const Current current(*this);
  fenced_bytes_ -= found->bytes();
  fences_.erase(found);
}

void CudaDevice::release_fences() {
  if (fences_.empty()) return;
  (void)synchronize();
  const Current current(*this);
  fences_.clear();
}

// --- Contexts, kernels, clocks ------------------------------------------------------------------

/// 1: the context was pushed and has to be popped.
int CudaDevice::enter() {
  void* current = nullptr;
  cuda().context_get_current(&current);
  return current != context_ && cuda().context_push(context_) == 0 ? 1 : 0;
}

void CudaDevice::leave(int before) {
  if (before == 0) return;
  void* popped = nullptr;
  cuda().context_pop(&popped);
}

Failure CudaDevice::failure_of(int code, std::string_view call, Outcome otherwise) const {
  return cuda_failure(code, call, otherwise);
}

Status CudaDevice::inspect(Kernel& kernel) {
  int static_bytes = 0;
  const int code = cuda().function_get_attribute(
      &static_bytes, attribute_number(CudaFunctionAttribute::static_shared_bytes), kernel.handle);
  if (code != 0) return cuda_failure(code, "cuFuncGetAttribute");
  const std::int64_t left = info().max_shared_bytes - static_bytes;
  kernel.shared_bytes_allowed = static_cast<std::uint32_t>(std::max<std::int64_t>(left, 0));
  kernel.parameter_count = parameter_count(kernel.handle);
  return Done{};
}

/// The driver reads as many arguments as the kernel has parameters, however many there are.
/// Dynamic shared memory above the default limit, and large clusters, must be announced once per
/// kernel.
Status CudaDevice::prepare(Kernel& kernel, const Launch& launch) {
  if (launch.arguments.size() < kernel.parameter_count) {
    return Failure{Outcome::launch_error,
                   fmt::format("kernel '{}' has {} parameters, the step gives {}", kernel.name,
                               kernel.parameter_count, launch.arguments.size())};
  }
  if (launch.shared_bytes > kernel.shared_bytes_allowed) {
    const int code = cuda().function_set_attribute(
        kernel.handle, attribute_number(CudaFunctionAttribute::max_dynamic_shared_bytes),
        static_cast<int>(launch.shared_bytes));
    if (code != 0) {
      return cuda_failure(
          code, fmt::format("{} bytes of dynamic shared memory for '{}' (the device allows {})",
                            launch.shared_bytes, kernel.name, info().max_shared_bytes_optin));
    }
    kernel.shared_bytes_allowed = launch.shared_bytes;
  }
  if (launch.cluster == kNoCluster) return Done{};
  if (cuda().launch_kernel_ex == nullptr) {
    return Failure{Outcome::launch_error,
                   "this CUDA driver has no block clusters (cuLaunchKernelEx, CUDA 11.8)"};
  }
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > kPortableClusterBlocks) {
    const int code = cuda().function_set_attribute(
        kernel.handle, attribute_number(CudaFunctionAttribute::non_portable_cluster_size_allowed),
        1);
    if (code != 0) return cuda_failure(code, "cuFuncSetAttribute of a large cluster");
  }
  return Done{};
}

int CudaDevice::enqueue(const Kernel& kernel, const Launch& launch, void* stream,
                        void** parameters) const {
  std::array<CudaLaunchAttribute, 2> attributes;
  unsigned count = 0;
  if (launch.cluster != kNoCluster) {
    attributes[count++] =
        CudaLaunchAttribute::cluster(launch.cluster[0], launch.cluster[1], launch.cluster[2]);
  }
  // A driver without it runs the launches one after the other, which is right, too.
  if (launch.programmatic && cuda().launch_kernel_ex != nullptr) {
    attributes[count++] = CudaLaunchAttribute::programmatic();
  }
  if (count == 0) return StreamDevice::enqueue(kernel, launch, stream, parameters);
  CudaLaunchConfig config;
  config.grid_x = launch.grid[0];
  config.grid_y = launch.grid[1];
  config.grid_z = launch.grid[2];
  config.block_x = launch.block[0];
  config.block_y = launch.block[1];
  config.block_z = launch.block[2];
  config.shared_bytes = launch.shared_bytes;
  config.stream = stream;
  config.attributes = attributes.data();
  config.attribute_count = count;
  return cuda().launch_kernel_ex(&config, kernel.handle, parameters, nullptr);
}

Result<TensorMapBytes> CudaDevice::encode(const TensorMapPlan& plan, const Buffer& buffer) {
  const Current current(*this);  // the driver checks the address
  return encode_tensor_map(plan, buffer.handle + buffer.offset);
}

NvmlDevice& CudaDevice::nvml() {
  if (!nvml_) {
    std::array<char, 32> bus_id{};
    cuda().device_get_pci_bus_id(bus_id.data(), static_cast<int>(bus_id.size()), info().ordinal);
    nvml_.emplace(bus_id.data());
  }
  return *nvml_;
}

Device::ClockState CudaDevice::clock_state() { return nvml().clock_state(); }

std::string CudaDevice::energy_unavailable() { return nvml().energy_unavailable(); }

std::optional<double> CudaDevice::energy_j() { return nvml().energy_j(); }

}  // namespace kiln
