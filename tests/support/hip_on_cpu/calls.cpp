// The HIP calls that Kiln makes, on the CPU: kernels for AMD GPUs run lane by lane. A test double.
//
// With KILN_HIP_LIBRARY set to this library, Kiln finds one GPU of the architecture that
// KILN_HIP_ON_CPU names. Its kernels are compiled by the machine's C++ compiler behind words.hpp
// and run by lanes.hpp, with wavefronts of 32 or 64. It proves what kernels compute: index
// arithmetic, barriers, exchanges in a wavefront, fragments of the matrix units as AMD documents
// them. It says nothing about AMD's compiler, hardware or drivers, and its times mean nothing.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "backends/hip/hip_api.hpp"
#include "core/device.hpp"
#include "tests/support/hip_on_cpu/architecture.hpp"
#include "tests/support/hip_on_cpu/lanes.hpp"

namespace {

using kiln::HipDeviceAttribute;
using kiln::hip_on_cpu::architecture;

constexpr int kInvalidValue = 1;      // hipErrorInvalidValue
constexpr int kOutOfMemory = 2;       // hipErrorOutOfMemory
constexpr int kNotFound = 500;        // hipErrorNotFound
constexpr int kVersion = 60'400'000;  // poses as HIP 6.4
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMemoryBytes = std::size_t{1} << 30;

const kiln::DeviceInfo& device_info() {
  static const kiln::DeviceInfo kInfo = kiln::device_for_architecture("hip", architecture());
  return kInfo;
}

struct CpuModule {
  void* library = nullptr;
};

using Instant = std::chrono::steady_clock::time_point;

}  // namespace

extern "C" {

// --- Devices ------------------------------------------------------------------------------------

int hipInit(unsigned) { return 0; }
int hipRuntimeGetVersion(int* version) {
  *version = kVersion;
  return 0;
}
int hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }
const char* hipGetErrorName(int code) { return code == 0 ? "hipSuccess" : "hipError"; }
const char* hipGetErrorString(int code) { return code == 0 ? "no error" : "HIP on the CPU"; }
int hipGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}
int hipGetDevice(int* device) {
  *device = 0;
  return 0;
}
int hipSetDevice(int) { return 0; }
int hipDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "HIP on the CPU", static_cast<std::size_t>(bytes));
  return 0;
}
int hipDeviceGetPCIBusId(char*, int, int) { return kInvalidValue; }
int hipDeviceTotalMem(std::size_t* bytes, int) {
  *bytes = kMemoryBytes;
  return 0;
}

int hipDeviceGetAttribute(int* value, int attribute, int) {
  const kiln::DeviceInfo& info = device_info();
  const std::array<std::pair<HipDeviceAttribute, std::int64_t>, 14> known = {{
      {HipDeviceAttribute::l2_bytes, info.l2_bytes},
      {HipDeviceAttribute::max_block_x, info.max_block[0]},
      {HipDeviceAttribute::max_block_y, info.max_block[1]},
      {HipDeviceAttribute::max_block_z, info.max_block[2]},
      {HipDeviceAttribute::max_grid_x, info.max_grid[0]},
      {HipDeviceAttribute::max_grid_y, info.max_grid[1]},
      {HipDeviceAttribute::max_grid_z, info.max_grid[2]},
      {HipDeviceAttribute::max_threads_per_block, info.max_threads_per_block},
      {HipDeviceAttribute::max_threads_per_multiprocessor, info.max_threads_per_unit},
      {HipDeviceAttribute::multiprocessor_count, info.compute_units},
      {HipDeviceAttribute::max_registers_per_block, info.registers_per_block},
      {HipDeviceAttribute::max_shared_bytes, info.max_shared_bytes},
      {HipDeviceAttribute::shared_bytes_per_multiprocessor, info.shared_bytes_per_unit},
      {HipDeviceAttribute::warp_size, info.warp_size},
  }};
  for (const auto& [which, number] : known) {
    if (static_cast<int>(which) != attribute) continue;
    *value = static_cast<int>(number);
    return 0;
  }
  return kInvalidValue;
}

/// Only what the backend looks for: a name, and the architecture somewhere behind it.
int hipGetDeviceProperties(void* properties, int device) {
  auto* block = static_cast<char*>(properties);
  std::strcpy(block + 640, architecture().c_str());
  return hipDeviceGetName(block, 256, device);
}

// --- Memory: all of it the host's; streams have nothing under way --------------------------------

int hipMalloc(std::uintptr_t* address, std::size_t bytes) {
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  void* memory = rounded > kMemoryBytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  *address = reinterpret_cast<std::uintptr_t>(memory);
  return memory == nullptr ? kOutOfMemory : 0;
}
int hipFree(std::uintptr_t address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int hipMemcpyHtoDAsync(std::uintptr_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int hipMemcpyDtoHAsync(void* to, std::uintptr_t from, std::size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int hipMemcpyDtoDAsync(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void*) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int hipMemsetD8Async(std::uintptr_t to, unsigned char byte, std::size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), byte, bytes);
  return 0;
}
int hipStreamCreateWithFlags(void** stream, unsigned) {
  *stream = new int(0);
  return 0;
}
int hipStreamDestroy(void* stream) {
  delete static_cast<int*>(stream);
  return 0;
}
int hipStreamSynchronize(void*) { return 0; }

// --- Modules ------------------------------------------------------------------------------------

int hipModuleUnload(void* module) {
  auto* loaded = static_cast<CpuModule*>(module);
  if (loaded->library != nullptr) ::dlclose(loaded->library);
  delete loaded;
  return 0;
}

/// `image`: an ELF file, whose length its header says.
int hipModuleLoadData(void** module, const void* image) {
  std::array<char, 64> header{};
  std::memcpy(header.data(), image, header.size());
  std::uint64_t sections_at = 0;
  std::uint16_t section_bytes = 0;
  std::uint16_t sections = 0;
  std::memcpy(&sections_at, header.data() + 40, sizeof sections_at);
  std::memcpy(&section_bytes, header.data() + 58, sizeof section_bytes);
  std::memcpy(&sections, header.data() + 60, sizeof sections);
  const std::size_t bytes = sections_at + std::size_t{section_bytes} * sections;
  // A path that no other module had: the loader knows libraries by it.
  std::string path = "/tmp/kiln-hip-on-cpu-XXXXXX";
  const int file = ::mkstemp(path.data());
  const bool written = file >= 0 && ::write(file, image, bytes) == static_cast<ssize_t>(bytes);
  auto* loaded = new CpuModule{written ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr};
  if (file >= 0) ::close(file);
  ::unlink(path.c_str());
  auto** hooks = loaded->library == nullptr
                     ? nullptr
                     : static_cast<KilnLaneHooks**>(::dlsym(loaded->library, "kiln_hooks"));
  if (hooks == nullptr) {
    hipModuleUnload(loaded);
    return kInvalidValue;
  }
  *hooks = &kiln::hip_on_cpu::hooks();
  *module = loaded;
  return 0;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
  const std::string symbol = std::string("kiln_run_") + name;
  *function = ::dlsym(static_cast<CpuModule*>(module)->library, symbol.c_str());
  return *function == nullptr ? kNotFound : 0;
}

int hipModuleGetGlobal(std::uintptr_t* address, std::size_t* bytes, void* module,
                       const char* name) {
  *address =
      reinterpret_cast<std::uintptr_t>(::dlsym(static_cast<CpuModule*>(module)->library, name));
  *bytes = 65536;
  return *address == 0 ? kNotFound : 0;
}

int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void*, void** parameters, void**) {
  if (block_x * block_y * block_z > device_info().max_threads_per_block ||
      shared_bytes > device_info().max_shared_bytes) {
    return kInvalidValue;
  }
  kiln::hip_on_cpu::run_grid({{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}},
                             static_cast<int>(device_info().warp_size),
                             reinterpret_cast<KilnCpuKernel>(function), parameters);
  return 0;
}

// --- Events: the host's clock -------------------------------------------------------------------

int hipEventCreateWithFlags(void** event, unsigned) {
  *event = new Instant();
  return 0;
}
int hipEventDestroy(void* event) {
  delete static_cast<Instant*>(event);
  return 0;
}
int hipEventRecord(void* event, void*) {
  *static_cast<Instant*>(event) = std::chrono::steady_clock::now();
  return 0;
}
int hipEventSynchronize(void*) { return 0; }
int hipEventQuery(void*) { return 0; }
int hipEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds = std::chrono::duration<float, std::milli>(*static_cast<Instant*>(to) -
                                                           *static_cast<Instant*>(from))
                      .count();
  return 0;
}

}  // extern "C"
