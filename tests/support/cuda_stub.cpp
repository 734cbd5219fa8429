// A CUDA driver without a GPU: one made-up H200 that takes programs and launches and runs nothing.
//
// With KILN_CUDA_LIBRARY set to this library, the launcher's CUDA path runs where no GPU is:
// opening, lookup, the cache of binaries, binding, launching from many threads. Memory is the
// host's, so that copies and fills are real; a launch only counts. It proves host code, nothing
// about a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "backends/cuda/cuda_api.hpp"

namespace {

constexpr int kOk = 0;
constexpr int kInvalidValue = 1;
constexpr int kInvalidImage = 200;

std::atomic<std::uint64_t> launches{0};
std::atomic<std::uint64_t> waits{0};
std::atomic<std::uint64_t> programs{0};
std::atomic<std::uint64_t> held{0};
std::atomic<std::uint64_t> tensor_maps{0};
std::atomic<std::uint64_t> programmatic{0};
std::atomic<int> watched_parameter{-1};
std::atomic<std::uint64_t> watched_value{0};
std::atomic<void*> captured_stream{nullptr};
std::atomic<std::uint64_t> last_block{0};
std::atomic<bool> times_follow_blocks{false};
int context_object = 0;
thread_local void* current_context = nullptr;

void* address_of(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

int attribute(int number) {
  using Attribute = kiln::CudaDeviceAttribute;
  switch (static_cast<Attribute>(number)) {
    case Attribute::max_threads_per_block:
    case Attribute::max_block_x:
    case Attribute::max_block_y:
      return 1024;
    case Attribute::max_block_z:
      return 64;
    case Attribute::max_grid_x:
      return 2147483647;
    case Attribute::max_grid_y:
    case Attribute::max_grid_z:
      return 65535;
    case Attribute::max_shared_bytes:
      return 49152;
    case Attribute::warp_size:
      return 32;
    case Attribute::max_registers_per_block:
      return 65536;
    case Attribute::clock_khz:
      return 1980000;
    case Attribute::multiprocessor_count:
      return 132;
    case Attribute::memory_clock_khz:
      return 3201000;
    case Attribute::memory_bus_bits:
      return 6144;
    case Attribute::l2_bytes:
      return 62914560;
    case Attribute::max_threads_per_multiprocessor:
      return 2048;
    case Attribute::capability_major:
      return 9;
    case Attribute::capability_minor:
      return 0;
    case Attribute::shared_bytes_per_multiprocessor:
      return 233472;
    case Attribute::max_shared_bytes_optin:
      return 232448;
    case Attribute::manages_virtual_memory:
      return 0;
  }
  return 0;
}

int launch(void* function, unsigned grid_x, unsigned block_x, void** parameters) {
  if (function == nullptr || parameters == nullptr || grid_x == 0 || block_x == 0) {
    return kInvalidValue;
  }
  if (const int watched = watched_parameter.load(std::memory_order_relaxed); watched >= 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters[watched], sizeof value);
    watched_value = value;
  }
  last_block.store(block_x, std::memory_order_relaxed);
  launches.fetch_add(1, std::memory_order_relaxed);
  return kOk;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the driver's names
extern "C" {

// For the tests.
std::uint64_t kiln_stub_launches() { return launches.load(); }
std::uint64_t kiln_stub_waits() { return waits.load(); }
std::uint64_t kiln_stub_programs() { return programs.load(); }
std::uint64_t kiln_stub_held() { return held.load(); }
std::uint64_t kiln_stub_tensor_maps() { return tensor_maps.load(); }
std::uint64_t kiln_stub_programmatic() { return programmatic.load(); }
// The first 8 bytes of that parameter at the last launch; of a tensor map, the address.
void kiln_stub_watch(int parameter) { watched_parameter = parameter; }
std::uint64_t kiln_stub_watched() { return watched_value.load(); }
void kiln_stub_capture(void* stream) { captured_stream = stream; }
// The threads of a block at the last launch.
std::uint64_t kiln_stub_block() { return last_block.load(); }

// From now on an event stands for the last launch, which took a microsecond for each thread of its
// block.
void kiln_stub_time_blocks(bool on) { times_follow_blocks = on; }

int cuInit(unsigned) { return kOk; }
int cuDriverGetVersion(int* version) { return *version = 13000, kOk; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_STUB", kOk; }
int cuGetErrorString(int, const char** text) { return *text = "the stub refuses", kOk; }
int cuDeviceGetCount(int* count) { return *count = 1, kOk; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, kOk; }
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(bytes));
  return kOk;
}
int cuDeviceGetPCIBusId(char* id, int bytes, int) {
  std::strncpy(id, "0000:00:00.0", static_cast<std::size_t>(bytes));
  return kOk;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{140} << 30U, kOk; }
int cuDeviceGetAttribute(int* value, int number, int) { return *value = attribute(number), kOk; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &context_object, kOk; }
int cuDevicePrimaryCtxRelease_v2(int) { return kOk; }
int cuCtxGetCurrent(void** context) { return *context = current_context, kOk; }
int cuCtxPushCurrent_v2(void* context) { return current_context = context, kOk; }
int cuCtxPopCurrent_v2(void** context) {
  *context = current_context;
  current_context = nullptr;
  return kOk;
}
int cuCtxGetDevice(int* device) { return *device = 0, kOk; }
int cuFuncGetAttribute(int* value, int, void*) { return *value = 0, kOk; }
int cuFuncSetAttribute(void*, int, int) { return kOk; }

int cuMemAlloc_v2(std::uintptr_t* address, std::size_t bytes) {
  *address = reinterpret_cast<std::uintptr_t>(std::malloc(bytes));
  held.fetch_add(1);
  return *address == 0 ? 2 : kOk;
}
int cuMemFree_v2(std::uintptr_t address) {
  held.fetch_sub(1);
  return std::free(address_of(address)), kOk;
}
int cuMemcpyHtoDAsync_v2(std::uintptr_t to, const void* from, std::size_t bytes, void*) {
  return std::memcpy(address_of(to), from, bytes), kOk;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uintptr_t from, std::size_t bytes, void*) {
  return std::memcpy(to, address_of(from), bytes), kOk;
}
int cuMemcpyDtoDAsync_v2(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void*) {
  return std::memcpy(address_of(to), address_of(from), bytes), kOk;
}
int cuMemsetD8Async(std::uintptr_t to, unsigned char byte, std::size_t bytes, void*) {
  return std::memset(address_of(to), byte, bytes), kOk;
}

int cuStreamCreate(void** stream, unsigned) { return *stream = std::malloc(1), kOk; }
int cuStreamDestroy_v2(void* stream) { return std::free(stream), kOk; }
int cuStreamSynchronize(void*) { return waits.fetch_add(1), kOk; }
int cuEventCreate(void** event, unsigned) {
  return *event = std::calloc(1, sizeof(std::uint64_t)), kOk;
}
int cuEventDestroy_v2(void* event) { return std::free(event), kOk; }
int cuEventRecord(void* event, void*) {
  const std::uint64_t block = last_block.load();
  return std::memcpy(event, &block, sizeof block), kOk;
}
int cuEventQuery(void*) { return kOk; }
int cuEventSynchronize(void*) { return waits.fetch_add(1), kOk; }
int cuEventElapsedTime(float* milliseconds, void*, void* to) {
  std::uint64_t block = 0;
  std::memcpy(&block, to, sizeof block);
  *milliseconds = times_follow_blocks ? static_cast<float>(block) * 1e-3F : 1.0F;
  return kOk;
}

// A stream that the test marked is being captured. Graphs are empty.
int cuStreamBeginCapture_v2(void*, int) { return kOk; }
int cuStreamEndCapture(void*, void** graph) { return *graph = std::malloc(1), kOk; }
int cuStreamIsCapturing(void* stream, int* state) {
  return *state = stream != nullptr && stream == captured_stream.load() ? 1 : 0, kOk;
}
int cuGraphInstantiateWithFlags(void** executable, void*, unsigned long long) {
  return *executable = std::malloc(1), kOk;
}
int cuGraphLaunch(void*, void*) { return kOk; }
int cuGraphDestroy(void* graph) { return std::free(graph), kOk; }
int cuGraphExecDestroy(void* executable) { return std::free(executable), kOk; }

int cuModuleLoadData(void** module, const void* image) {
  if (std::memcmp(image, "\177ELF", 4) != 0) return kInvalidImage;
  programs.fetch_add(1);
  held.fetch_add(1);
  return *module = std::malloc(1), kOk;
}
int cuModuleUnload(void* module) {
  held.fetch_sub(1);
  return std::free(module), kOk;
}
int cuModuleGetFunction(void** function, void* module, const char*) {
  return *function = module, kOk;
}
int cuModuleGetGlobal_v2(std::uintptr_t* address, std::size_t* bytes, void*, const char*) {
  static std::byte constants[65536];
  *address = reinterpret_cast<std::uintptr_t>(&constants);
  *bytes = sizeof constants;
  return kOk;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned, unsigned, unsigned block_x, unsigned,
                   unsigned, unsigned, void*, void** parameters, void**) {
  return launch(function, grid_x, block_x, parameters);
}
int cuLaunchKernelEx(const kiln::CudaLaunchConfig* config, void* function, void** parameters,
                     void**) {
  constexpr int kProgrammatic = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id == kProgrammatic) programmatic.fetch_add(1);
  }
  return launch(function, config->grid_x, config->block_x, parameters);
}

/// The bytes are the driver's own affair; here they begin with the address.
int encode_map(void* map, unsigned rank, void* address) {
  constexpr std::uintptr_t kMapAlignment = 64;
  constexpr std::uintptr_t kAddressAlignment = 16;
  if (current_context == nullptr || rank == 0 || rank > 5 || address == nullptr ||
      reinterpret_cast<std::uintptr_t>(map) % kMapAlignment != 0 ||
      reinterpret_cast<std::uintptr_t>(address) % kAddressAlignment != 0) {
    return kInvalidValue;
  }
  tensor_maps.fetch_add(1);
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof address);
  return kOk;
}

int cuTensorMapEncodeTiled(void* map, int, unsigned rank, void* address, const unsigned long long*,
                           const unsigned long long*, const unsigned*, const unsigned*, int, int,
                           int, int) {
  return encode_map(map, rank, address);
}

int cuTensorMapEncodeIm2col(void* map, int, unsigned rank, void* address, const unsigned long long*,
                            const unsigned long long*, const int*, const int*, unsigned, unsigned,
                            const unsigned*, int, int, int, int) {
  return encode_map(map, rank, address);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
