// The HIP and hipRTC calls that Kiln makes, declared here and bound at run time (see
// cuda/cuda_api.hpp).
//
// Devices are asked attribute by attribute: hipDeviceProp_t changed its layout in HIP 6, the
// numbers of the attributes below are the same in 5.x, 6.x and 7.x (some that are not used here
// became placeholders in 6).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/stream_api.hpp"
#include "core/result.hpp"

// clang-format off
#define KILN_HIP_STREAM_CALLS(CALL)                 \
  CALL(mem_alloc, hipMalloc)                        \
  CALL(mem_free, hipFree)                           \
  CALL(copy_to_device, hipMemcpyHtoDAsync)          \
  CALL(copy_to_host, hipMemcpyDtoHAsync)            \
  CALL(copy_on_device, hipMemcpyDtoDAsync)          \
  CALL(fill_bytes, hipMemsetD8Async)                \
  CALL(stream_create, hipStreamCreateWithFlags)     \
  CALL(stream_destroy, hipStreamDestroy)            \
  CALL(stream_synchronize, hipStreamSynchronize)    \
  CALL(module_load, hipModuleLoadData)              \
  CALL(module_unload, hipModuleUnload)              \
  CALL(module_get_function, hipModuleGetFunction)   \
  CALL(module_get_global, hipModuleGetGlobal)       \
  CALL(launch_kernel, hipModuleLaunchKernel)        \
  CALL(event_create, hipEventCreateWithFlags)       \
  CALL(event_destroy, hipEventDestroy)              \
  CALL(event_record, hipEventRecord)                \
  CALL(event_synchronize, hipEventSynchronize)      \
  CALL(event_query, hipEventQuery)                  \
  CALL(event_elapsed, hipEventElapsedTime)

// Graphs: optional, a runtime may be without.
#define KILN_HIP_GRAPH_CALLS(CALL)                       \
  CALL(begin_capture, hipStreamBeginCapture)             \
  CALL(end_capture, hipStreamEndCapture)                 \
  CALL(is_capturing, hipStreamIsCapturing)               \
  CALL(exchange_capture_mode, hipThreadExchangeStreamCaptureMode) \
  CALL(graph_instantiate, hipGraphInstantiateWithFlags)  \
  CALL(graph_launch, hipGraphLaunch)                     \
  CALL(graph_destroy, hipGraphDestroy)                   \
  CALL(graph_executable_destroy, hipGraphExecDestroy)

#define KILN_HIP_CALLS(CALL)                                                              \
  CALL(int, init, hipInit, (unsigned flags))                                              \
  CALL(int, runtime_get_version, hipRuntimeGetVersion, (int* version))                    \
  CALL(int, driver_get_version, hipDriverGetVersion, (int* version))                      \
  CALL(const char*, get_error_name, hipGetErrorName, (int code))                          \
  CALL(const char*, get_error_string, hipGetErrorString, (int code))                      \
  CALL(int, get_device_count, hipGetDeviceCount, (int* count))                            \
  CALL(int, get_device, hipGetDevice, (int* device))                                      \
  CALL(int, set_device, hipSetDevice, (int device))                                       \
  CALL(int, device_get_name, hipDeviceGetName, (char* name, int bytes, int device))       \
  CALL(int, device_total_mem, hipDeviceTotalMem, (std::size_t* bytes, int device))        \
  CALL(int, device_get_pci_bus_id, hipDeviceGetPCIBusId, (char* id, int bytes, int device)) \
  CALL(int, device_get_attribute, hipDeviceGetAttribute, (int* value, int attribute, int device))

#define KILN_HIPRTC_CALLS(CALL)                                                           \
  CALL(const char*, get_error_string, hiprtcGetErrorString, (int code))                   \
  CALL(int, create_program, hiprtcCreateProgram, (void** program, const char* text, const char* name, int header_count, const char** headers, const char** header_names)) \
  CALL(int, destroy_program, hiprtcDestroyProgram, (void** program))                      \
  CALL(int, compile_program, hiprtcCompileProgram, (void* program, int option_count, const char** options)) \
  CALL(int, get_code_size, hiprtcGetCodeSize, (void* program, std::size_t* bytes))        \
  CALL(int, get_code, hiprtcGetCode, (void* program, char* code))                         \
  CALL(int, get_program_log_size, hiprtcGetProgramLogSize, (void* program, std::size_t* bytes)) \
  CALL(int, get_program_log, hiprtcGetProgramLog, (void* program, char* log))             \
  CALL(int, add_name, hiprtcAddNameExpression, (void* program, const char* name))         \
  CALL(int, get_lowered_name, hiprtcGetLoweredName, (void* program, const char* name, const char** symbol))
// clang-format on

namespace kiln {

/// Numbers of hipDeviceAttribute_t, HIP 5.0 and later.
enum class HipDeviceAttribute : int {
  clock_khz = 5,
  l2_bytes = 19,
  max_block_x = 26,
  max_block_y = 27,
  max_block_z = 28,
  max_grid_x = 29,
  max_grid_y = 30,
  max_grid_z = 31,
  max_threads_per_block = 56,
  max_threads_per_multiprocessor = 57,
  memory_bus_bits = 59,
  memory_clock_khz = 60,
  multiprocessor_count = 63,
  max_registers_per_block = 71,
  max_shared_bytes = 74,
  shared_bytes_per_multiprocessor = 10002,
  warp_size = 87,
};

struct HipApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(result, member, symbol, signature) result(*member) signature = nullptr;
  KILN_HIP_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  /// Fills a hipDeviceProp_t of the runtime's own layout; the newer name where there are two.
  int (*get_device_properties)(void* properties, int device) = nullptr;
  StreamApi stream;
};

struct HiprtcApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(result, member, symbol, signature) result(*member) signature = nullptr;
  KILN_HIPRTC_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  std::string path;     ///< of the library
  std::string version;  ///< of the HIP it belongs to: "5.2.21153", empty when not known
  std::vector<std::string> architectures;  ///< what it can compile for: "gfx906", "gfx90a" ...
};

/// The process's HIP runtime, loaded and initialised by the first call. Throws DeviceError when it
/// is not there or has no device. KILN_HIP_LIBRARY names another library, which then must hold
/// hipRTC too.
[[nodiscard]] const HipApi& hip();

/// The process's hipRTC: needs no device and no driver. Throws DeviceError when there is none.
[[nodiscard]] const HiprtcApi& hiprtc();

/// What a failed HIP call means for the config, by number.
[[nodiscard]] Failure hip_failure(int code, std::string_view call,
                                  Outcome otherwise = Outcome::launch_error);

/// "gfx9-4-generic" out of "amdgcn-amd-amdhsa--gfx9-4-generic"; empty for another text.
[[nodiscard]] std::string_view architecture_of_isa(std::string_view isa);

/// "5.2.21153" out of hipRuntimeGetVersion's 50221153.
[[nodiscard]] std::string hip_version_text(int version);

}  // namespace kiln
