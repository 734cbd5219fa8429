// The CUDA driver calls that Kiln makes, declared here and bound at run time, so that no CUDA
// header is needed to build. tests/backends/cuda_headers_test.cpp compares all of this with
// cuda.h where it is found.
//
// Names end in _v2 where cuda.h maps the plain name to it. All exist since CUDA 11; optional ones
// are marked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/stream_api.hpp"
#include "core/result.hpp"

// clang-format off
#define KILN_CUDA_STREAM_CALLS(CALL)                \
  CALL(mem_alloc, cuMemAlloc_v2)                    \
  CALL(mem_free, cuMemFree_v2)                      \
  CALL(copy_to_device, cuMemcpyHtoDAsync_v2)        \
  CALL(copy_to_host, cuMemcpyDtoHAsync_v2)          \
  CALL(copy_on_device, cuMemcpyDtoDAsync_v2)        \
  CALL(fill_bytes, cuMemsetD8Async)                 \
  CALL(stream_create, cuStreamCreate)               \
  CALL(stream_destroy, cuStreamDestroy_v2)          \
  CALL(stream_synchronize, cuStreamSynchronize)     \
  CALL(module_load, cuModuleLoadData)               \
  CALL(module_unload, cuModuleUnload)               \
  CALL(module_get_function, cuModuleGetFunction)    \
  CALL(module_get_global, cuModuleGetGlobal_v2)     \
  CALL(launch_kernel, cuLaunchKernel)               \
  CALL(event_create, cuEventCreate)                 \
  CALL(event_destroy, cuEventDestroy_v2)            \
  CALL(event_record, cuEventRecord)                 \
  CALL(event_synchronize, cuEventSynchronize)       \
  CALL(event_query, cuEventQuery)                   \
  CALL(event_elapsed, cuEventElapsedTime)

// Graphs: optional, a driver may be without.
#define KILN_CUDA_GRAPH_CALLS(CALL)                      \
  CALL(begin_capture, cuStreamBeginCapture_v2)           \
  CALL(end_capture, cuStreamEndCapture)                  \
  CALL(is_capturing, cuStreamIsCapturing)                \
  CALL(exchange_capture_mode, cuThreadExchangeStreamCaptureMode) \
  CALL(graph_instantiate, cuGraphInstantiateWithFlags)   \
  CALL(graph_launch, cuGraphLaunch)                      \
  CALL(graph_destroy, cuGraphDestroy)                    \
  CALL(graph_executable_destroy, cuGraphExecDestroy)

#define KILN_CUDA_CALLS(CALL)                                                             \
  CALL(init, cuInit, (unsigned flags))                                                    \
  CALL(driver_get_version, cuDriverGetVersion, (int* version))                            \
  CALL(get_error_name, cuGetErrorName, (int code, const char** name))                     \
  CALL(get_error_string, cuGetErrorString, (int code, const char** text))                 \
  CALL(device_get_count, cuDeviceGetCount, (int* count))                                  \
  CALL(device_get, cuDeviceGet, (int* device, int ordinal))                               \
  CALL(device_get_name, cuDeviceGetName, (char* name, int bytes, int device))             \
  CALL(device_get_pci_bus_id, cuDeviceGetPCIBusId, (char* id, int bytes, int device))     \
  CALL(device_total_mem, cuDeviceTotalMem_v2, (std::size_t* bytes, int device))           \
  CALL(device_get_attribute, cuDeviceGetAttribute, (int* value, int attribute, int device)) \
  CALL(primary_context_retain, cuDevicePrimaryCtxRetain, (void** context, int device))    \
  CALL(primary_context_release, cuDevicePrimaryCtxRelease_v2, (int device))               \
  CALL(context_get_current, cuCtxGetCurrent, (void** context))                            \
  CALL(context_push, cuCtxPushCurrent_v2, (void* context))                                \
  CALL(context_pop, cuCtxPopCurrent_v2, (void** context))                                 \
  CALL(context_get_device, cuCtxGetDevice, (int* device))                                 \
  CALL(function_get_attribute, cuFuncGetAttribute, (int* value, int attribute, void* function)) \
  CALL(function_set_attribute, cuFuncSetAttribute, (void* function, int attribute, int value))

// Management of virtual memory: optional, a driver may be without.
#define KILN_CUDA_MEMORY_CALLS(CALL)                                                      \
  CALL(memory_get_granularity, cuMemGetAllocationGranularity,                             \
       (std::size_t* bytes, const CudaMemoryProperties* properties, int option))          \
  CALL(memory_reserve, cuMemAddressReserve,                                               \
       (DeviceAddress* address, std::size_t bytes, std::size_t alignment, DeviceAddress wish, \
        unsigned long long flags))                                                        \
  CALL(memory_free_range, cuMemAddressFree, (DeviceAddress address, std::size_t bytes))   \
  CALL(memory_create, cuMemCreate,                                                        \
       (unsigned long long* handle, std::size_t bytes, const CudaMemoryProperties* properties, \
        unsigned long long flags))                                                        \
  CALL(memory_release, cuMemRelease, (unsigned long long handle))                         \
  CALL(memory_map, cuMemMap,                                                              \
       (DeviceAddress address, std::size_t bytes, std::size_t offset, unsigned long long handle, \
        unsigned long long flags))                                                        \
  CALL(memory_unmap, cuMemUnmap, (DeviceAddress address, std::size_t bytes))              \
  CALL(memory_set_access, cuMemSetAccess,                                                 \
       (DeviceAddress address, std::size_t bytes, const CudaMemoryAccess* access, std::size_t count))
// clang-format on

namespace kiln {

/// Numbers of CUdevice_attribute.
enum class CudaDeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_x = 2,
  max_block_y = 3,
  max_block_z = 4,
  max_grid_x = 5,
  max_grid_y = 6,
  max_grid_z = 7,
  max_shared_bytes = 8,
  warp_size = 10,
  max_registers_per_block = 12,
  clock_khz = 13,
  multiprocessor_count = 16,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  l2_bytes = 38,
  max_threads_per_multiprocessor = 39,
  capability_major = 75,
  capability_minor = 76,
  shared_bytes_per_multiprocessor = 81,
  max_shared_bytes_optin = 97,
  manages_virtual_memory = 102,
};

/// Numbers of CUfunction_attribute.
enum class CudaFunctionAttribute : int {
  static_shared_bytes = 1,
  max_dynamic_shared_bytes = 8,
  non_portable_cluster_size_allowed = 14,
};

/// CUlaunchAttribute; the value is a union of 64 bytes.
struct CudaLaunchAttribute {
  int id = 0;
  int padding = 0;
  unsigned value[16] = {};

  /// CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  [[nodiscard]] static CudaLaunchAttribute cluster(unsigned x, unsigned y, unsigned z) {
    return {4, 0, {x, y, z}};
  }
  /// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  [[nodiscard]] static CudaLaunchAttribute programmatic() { return {6, 0, {1}}; }
};

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned grid_x = 1;
  unsigned grid_y = 1;
  unsigned grid_z = 1;
  unsigned block_x = 1;
  unsigned block_y = 1;
  unsigned block_z = 1;
  unsigned shared_bytes = 0;
  void* stream = nullptr;
  CudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// CUmemLocation: on a device.
struct CudaMemoryLocation {
  int type = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE
  int ordinal = 0;
};

/// CUmemAllocationProp.
struct CudaMemoryProperties {
  int type = 1;  ///< CU_MEM_ALLOCATION_TYPE_PINNED
  int handle_types = 0;
  CudaMemoryLocation location;
  void* win32_data = nullptr;
  unsigned char flags[8] = {};

  [[nodiscard]] static CudaMemoryProperties of_device(int ordinal) {
    CudaMemoryProperties properties;
    properties.location.ordinal = ordinal;
    return properties;
  }
};

/// CUmemAccessDesc.
struct CudaMemoryAccess {
  CudaMemoryLocation location;
  int rights = 3;  ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

struct CudaApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(member, symbol, signature) int(*member) signature = nullptr;
  KILN_CUDA_CALLS(KILN_DECLARE_CALL)
  KILN_CUDA_MEMORY_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  /// Optional: since CUDA 11.8.
  int (*launch_kernel_ex)(const CudaLaunchConfig* config, void* function, void** parameters,
                          void** extra) = nullptr;
  /// Optional: since CUDA 12.4.
  int (*function_get_parameter)(void* function, std::size_t index, std::size_t* offset,
                                std::size_t* bytes) = nullptr;
  /// Optional: since CUDA 12.0. Lists have the innermost dimension first.
  int (*tensor_map_encode)(void* map, int type, unsigned rank, void* address,
                           const unsigned long long* extents, const unsigned long long* strides,
                           const unsigned* box, const unsigned* element_strides, int interleave,
                           int swizzle, int promotion, int fill) = nullptr;
  int (*tensor_map_encode_im2col)(void* map, int type, unsigned rank, void* address,
                                  const unsigned long long* extents,
                                  const unsigned long long* strides, const int* lower,
                                  const int* upper, unsigned channels, unsigned positions,
                                  const unsigned* element_strides, int interleave, int swizzle,
                                  int promotion, int fill) = nullptr;
  StreamApi stream;
};

/// The process's CUDA driver, loaded and initialised by the first call. Throws DeviceError when it
/// is not there or has no device. KILN_CUDA_LIBRARY names another library than libcuda.so.1.
[[nodiscard]] const CudaApi& cuda();

/// What a failed call means for the config, by number.
[[nodiscard]] Failure cuda_failure(int code, std::string_view call,
                                   Outcome otherwise = Outcome::launch_error);

}  // namespace kiln
