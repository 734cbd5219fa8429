// The HIP calls that Kiln makes, over the CUDA driver. A test double, not a port of HIP.
//
// It exists so that no line of the HIP backend's host code is written blind: with KILN_HIP_LIBRARY
// set to this library, the backend runs its tests and its tuning on an NVIDIA GPU. It proves that
// host code and nothing about AMD hardware, wavefronts of 64, hipRTC or AMD's drivers. Only what
// Kiln uses is here, on the assumption that Kiln asks hipGetDevice before it works on a thread
// (StreamDevice::enter).
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/cuda_devices.hpp"
#include "backends/hip/hip_api.hpp"
#include "core/errors.hpp"

namespace {

using kiln::cuda;
using kiln::CudaDeviceAttribute;
using kiln::HipDeviceAttribute;

constexpr int kNoDevice = 100;        // hipErrorNoDevice
constexpr int kInvalidValue = 1;      // hipErrorInvalidValue
constexpr int kVersion = 50'200'000;  // poses as HIP 5.2

thread_local int current_device = -1;  // -1: no context was pushed on this thread yet

/// HIP makes a device's primary context current; CUDA's driver has to be told.
int make_current(int device) {
  if (device == current_device) return 0;
  static std::map<int, void*> contexts;
  void*& context = contexts[device];
  if (context == nullptr) {
    if (const int code = cuda().primary_context_retain(&context, device); code != 0) return code;
  }
  const int code = cuda().context_push(context);
  if (code == 0) current_device = device;
  return code;
}

int attribute_of(int device, CudaDeviceAttribute which) {
  int value = 0;
  cuda().device_get_attribute(&value, static_cast<int>(which), device);
  return value;
}

constexpr std::array<std::pair<HipDeviceAttribute, CudaDeviceAttribute>, 17> kAttributes = {{
    {HipDeviceAttribute::clock_khz, CudaDeviceAttribute::clock_khz},
    {HipDeviceAttribute::l2_bytes, CudaDeviceAttribute::l2_bytes},
    {HipDeviceAttribute::max_block_x, CudaDeviceAttribute::max_block_x},
    {HipDeviceAttribute::max_block_y, CudaDeviceAttribute::max_block_y},
    {HipDeviceAttribute::max_block_z, CudaDeviceAttribute::max_block_z},
    {HipDeviceAttribute::max_grid_x, CudaDeviceAttribute::max_grid_x},
    {HipDeviceAttribute::max_grid_y, CudaDeviceAttribute::max_grid_y},
    {HipDeviceAttribute::max_grid_z, CudaDeviceAttribute::max_grid_z},
    {HipDeviceAttribute::max_threads_per_block, CudaDeviceAttribute::max_threads_per_block},
    {HipDeviceAttribute::max_threads_per_multiprocessor,
     CudaDeviceAttribute::max_threads_per_multiprocessor},
    {HipDeviceAttribute::memory_bus_bits, CudaDeviceAttribute::memory_bus_bits},
    {HipDeviceAttribute::memory_clock_khz, CudaDeviceAttribute::memory_clock_khz},
    {HipDeviceAttribute::multiprocessor_count, CudaDeviceAttribute::multiprocessor_count},
    {HipDeviceAttribute::max_registers_per_block, CudaDeviceAttribute::max_registers_per_block},
    {HipDeviceAttribute::max_shared_bytes, CudaDeviceAttribute::max_shared_bytes},
    {HipDeviceAttribute::shared_bytes_per_multiprocessor,
     CudaDeviceAttribute::shared_bytes_per_multiprocessor},
    {HipDeviceAttribute::warp_size, CudaDeviceAttribute::warp_size},
}};

}  // namespace

extern "C" {

// --- Devices ------------------------------------------------------------------------------------

int hipInit(unsigned) {
  try {
    static_cast<void>(cuda());
    return 0;
  } catch (const kiln::DeviceError&) {
    return kNoDevice;
  }
}

int hipRuntimeGetVersion(int* version) {
  *version = kVersion;
  return 0;
}

int hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }

// Called before and after a failed hipInit: must not need CUDA.
const char* hipGetErrorName(int code) {
  const char* name = nullptr;
  if (hipInit(0) == 0) cuda().get_error_name(code, &name);
  return name != nullptr ? name : "hipError";
}

const char* hipGetErrorString(int code) {
  const char* text = nullptr;
  if (hipInit(0) == 0) cuda().get_error_string(code, &text);
  return text != nullptr ? text : "no CUDA device under HIP over CUDA";
}

int hipGetDeviceCount(int* count) { return cuda().device_get_count(count); }

int hipGetDevice(int* device) {
  const int code = current_device < 0 ? make_current(0) : 0;
  *device = current_device;
  return code;
}

int hipSetDevice(int device) { return make_current(device); }

int hipDeviceGetName(char* name, int bytes, int device) {
  return cuda().device_get_name(name, bytes, device);
}

int hipDeviceGetPCIBusId(char*, int, int) { return kInvalidValue; }

int hipDeviceTotalMem(std::size_t* bytes, int device) {
  return cuda().device_total_mem(bytes, device);
}

int hipDeviceGetAttribute(int* value, int attribute, int device) {
  for (const auto& [hip_attribute, cuda_attribute] : kAttributes) {
    if (static_cast<int>(hip_attribute) != attribute) continue;
    return cuda().device_get_attribute(value, static_cast<int>(cuda_attribute), device);
  }
  return kInvalidValue;
}

/// Only what the backend looks for: a name, and the architecture somewhere behind it.
int hipGetDeviceProperties(void* properties, int device) {
  auto* block = static_cast<char*>(properties);
  const int capability = attribute_of(device, CudaDeviceAttribute::capability_major) * 10 +
                         attribute_of(device, CudaDeviceAttribute::capability_minor);
  std::strcpy(block + 640, kiln::cuda_architecture(capability).c_str());
  return cuda().device_get_name(block, 256, device);
}

// --- Memory, modules, streams and events: the same calls by other names --------------------------

int hipMalloc(std::uintptr_t* address, std::size_t bytes) {
  return cuda().stream.mem_alloc(address, bytes);
}
int hipFree(std::uintptr_t address) { return cuda().stream.mem_free(address); }
int hipMemcpyHtoDAsync(std::uintptr_t to, const void* from, std::size_t bytes, void* stream) {
  return cuda().stream.copy_to_device(to, from, bytes, stream);
}
int hipMemcpyDtoHAsync(void* to, std::uintptr_t from, std::size_t bytes, void* stream) {
  return cuda().stream.copy_to_host(to, from, bytes, stream);
}
int hipMemcpyDtoDAsync(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void* stream) {
  return cuda().stream.copy_on_device(to, from, bytes, stream);
}
int hipMemsetD8Async(std::uintptr_t to, unsigned char byte, std::size_t bytes, void* stream) {
  return cuda().stream.fill_bytes(to, byte, bytes, stream);
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return cuda().stream.stream_create(stream, flags);
}
int hipStreamDestroy(void* stream) { return cuda().stream.stream_destroy(stream); }
int hipStreamSynchronize(void* stream) { return cuda().stream.stream_synchronize(stream); }
int hipModuleLoadData(void** module, const void* image) {
  return cuda().stream.module_load(module, image);
}
int hipModuleUnload(void* module) { return cuda().stream.module_unload(module); }
int hipModuleGetFunction(void** function, void* module, const char* name) {
  return cuda().stream.module_get_function(function, module, name);
}
int hipModuleGetGlobal(std::uintptr_t* address, std::size_t* bytes, void* module,
                       const char* name) {
  return cuda().stream.module_get_global(address, bytes, module, name);
}
int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void* stream, void** parameters, void** extra) {
  return cuda().stream.launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                     shared_bytes, stream, parameters, extra);
}
int hipEventCreateWithFlags(void** event, unsigned flags) {
  return cuda().stream.event_create(event, flags);
}
int hipEventDestroy(void* event) { return cuda().stream.event_destroy(event); }
int hipEventRecord(void* event, void* stream) { return cuda().stream.event_record(event, stream); }
int hipEventQuery(void* event) { return cuda().stream.event_query(event); }
int hipEventSynchronize(void* event) { return cuda().stream.event_synchronize(event); }
int hipEventElapsedTime(float* milliseconds, void* from, void* to) {
  return cuda().stream.event_elapsed(milliseconds, from, to);
}
int hipStreamBeginCapture(void* stream, int mode) {
  return cuda().stream.begin_capture(stream, mode);
}
int hipStreamEndCapture(void* stream, void** graph) {
  return cuda().stream.end_capture(stream, graph);
}
int hipStreamIsCapturing(void* stream, int* state) {
  return cuda().stream.is_capturing(stream, state);
}
int hipGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return cuda().stream.graph_instantiate(executable, graph, flags);
}
int hipGraphLaunch(void* executable, void* stream) {
  return cuda().stream.graph_launch(executable, stream);
}
int hipGraphDestroy(void* graph) { return cuda().stream.graph_destroy(graph); }
int hipGraphExecDestroy(void* executable) {
  return cuda().stream.graph_executable_destroy(executable);
}

}  // extern "C"
