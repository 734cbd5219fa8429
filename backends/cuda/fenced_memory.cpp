// Maps device memory between unmapped pages with the driver's calls for virtual memory.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fenced_memory.hpp"

#include <utility>

#include <fmt/format.h>

#include "backends/alignment.hpp"
#include "backends/cuda/cuda_api.hpp"

namespace kiln {
namespace {

Failure no_room(int code, std::string_view call, std::size_t bytes) {
  return cuda_failure(code, fmt::format("{} of {} bytes", call, bytes), Outcome::out_of_memory);
}

/// Of the device and the driver.
bool manages_virtual_memory(int ordinal) {
  int is_supported = 0;
  const int code = cuda().device_get_attribute(
      &is_supported, static_cast<int>(CudaDeviceAttribute::manages_virtual_memory), ordinal);
#define KILN_IS_THERE(member, symbol, signature) &&cuda().member != nullptr
  return code == 0 && is_supported != 0 KILN_CUDA_MEMORY_CALLS(KILN_IS_THERE);
#undef KILN_IS_THERE
}

}  // namespace

Result<FencedMemory> FencedMemory::map(int ordinal, std::size_t bytes) {
  if (!manages_virtual_memory(ordinal))
    return Failure{Outcome::launch_error, "no management of virtual memory on this device"};
  const CudaMemoryProperties properties = CudaMemoryProperties::of_device(ordinal);
  std::size_t step = 0;
  if (const int code = cuda().memory_get_granularity(&step, &properties, 0); code != 0)
    return cuda_failure(code, "cuMemGetAllocationGranularity");
  FencedMemory memory;
  memory.margin_ = step;
  memory.bytes_ = round_up(bytes, step);
  if (Status status = memory.map_pages(ordinal); !status) return status.failure();
  return memory;
}

Status FencedMemory::map_pages(int ordinal) {
  const std::size_t whole = bytes_ + 2 * margin_;
  if (const int code = cuda().memory_reserve(&reserved_, whole, 0, 0, 0); code != 0)
    return no_room(code, "cuMemAddressReserve", whole);
  const CudaMemoryProperties properties = CudaMemoryProperties::of_device(ordinal);
  unsigned long long handle = 0;
  if (const int code = cuda().memory_create(&handle, bytes_, &properties, 0); code != 0)
    return no_room(code, "cuMemCreate", bytes_);
  const int mapped = cuda().memory_map(address(), bytes_, 0, handle, 0);
  cuda().memory_release(handle);  // the memory itself stays until it is unmapped
  if (mapped != 0) return no_room(mapped, "cuMemMap", bytes_);
  is_mapped_ = true;
  const CudaMemoryAccess access{properties.location};
  if (const int code = cuda().memory_set_access(address(), bytes_, &access, 1); code != 0)
    return cuda_failure(code, "cuMemSetAccess");
  return Done{};
}

FencedMemory::FencedMemory(FencedMemory&& other) noexcept
    : reserved_(std::exchange(other.reserved_, 0)),
      margin_(other.margin_),
      bytes_(other.bytes_),
      is_mapped_(other.is_mapped_) {}

FencedMemory& FencedMemory::operator=(FencedMemory&& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(margin_, other.margin_);
  std::swap(bytes_, other.bytes_);
  std::swap(is_mapped_, other.is_mapped_);
  return *this;
}

FencedMemory::~FencedMemory() {
  if (reserved_ == 0) return;
  if (is_mapped_) cuda().memory_unmap(address(), bytes_);
  cuda().memory_free_range(reserved_, bytes_ + 2 * margin_);
}

}  // namespace kiln
