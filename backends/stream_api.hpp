// The driver calls that CUDA and HIP have in common, names aside: one table, filled from either
// library.
//
// Types are spelled neutrally: a handle is a void*, a device address an integer, a status an int.
// On the machines both run on, these pass like the vendors' own types;
// tests/backends/cuda_headers_test.cpp checks that against the vendors' headers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {

using DeviceAddress = std::uintptr_t;

struct StreamApi {
  int (*mem_alloc)(DeviceAddress* address, std::size_t bytes) = nullptr;
  int (*mem_free)(DeviceAddress address) = nullptr;
  int (*copy_to_device)(DeviceAddress to, const void* from, std::size_t bytes,
                        void* stream) = nullptr;
  int (*copy_to_host)(void* to, DeviceAddress from, std::size_t bytes, void* stream) = nullptr;
  int (*copy_on_device)(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                        void* stream) = nullptr;
  int (*fill_bytes)(DeviceAddress to, unsigned char byte, std::size_t bytes,
                    void* stream) = nullptr;

  int (*stream_create)(void** stream, unsigned flags) = nullptr;
  int (*stream_destroy)(void* stream) = nullptr;
  int (*stream_synchronize)(void* stream) = nullptr;

  int (*module_load)(void** module, const void* image) = nullptr;
  int (*module_unload)(void* module) = nullptr;
  int (*module_get_function)(void** function, void* module, const char* name) = nullptr;
  int (*module_get_global)(DeviceAddress* address, std::size_t* bytes, void* module,
                           const char* name) = nullptr;
  int (*launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void* stream, void** parameters, void** extra) = nullptr;

  int (*event_create)(void** event, unsigned flags) = nullptr;
  int (*event_destroy)(void* event) = nullptr;
  int (*event_record)(void* event, void* stream) = nullptr;
  int (*event_synchronize)(void* event) = nullptr;
  int (*event_query)(void* event) = nullptr;
  int (*event_elapsed)(float* milliseconds, void* from, void* to) = nullptr;

  // Graphs: optional, a driver may be without. All or none of them are there.
  int (*begin_capture)(void* stream, int mode) = nullptr;
  int (*end_capture)(void* stream, void** graph) = nullptr;
  int (*is_capturing)(void* stream, int* state) = nullptr;
  int (*exchange_capture_mode)(int* mode) =
      nullptr;  ///< of the calling thread; not in has_graphs()
  int (*graph_instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
  int (*graph_launch)(void* executable, void* stream) = nullptr;
  int (*graph_destroy)(void* graph) = nullptr;
  int (*graph_executable_destroy)(void* executable) = nullptr;

  [[nodiscard]] bool has_graphs() const {
    return begin_capture != nullptr && end_capture != nullptr && is_capturing != nullptr &&
           graph_instantiate != nullptr && graph_launch != nullptr && graph_destroy != nullptr &&
           graph_executable_destroy != nullptr;
  }
};

/// A stream that does not wait for the default one: the value of CU_STREAM_NON_BLOCKING and
/// hipStreamNonBlocking.
inline constexpr unsigned kStreamNonBlocking = 1;
/// An event that can be timed: CU_EVENT_DEFAULT and hipEventDefault.
inline constexpr unsigned kEventDefault = 0;
/// The event has not happened yet: the value of CUDA_ERROR_NOT_READY and hipErrorNotReady.
inline constexpr int kNotReady = 600;
/// A capture that forbids no call to any thread: CU_STREAM_CAPTURE_MODE_RELAXED and
/// hipStreamCaptureModeRelaxed.
inline constexpr int kCaptureRelaxed = 2;
/// CU_STREAM_CAPTURE_STATUS_NONE and hipStreamCaptureStatusNone.
inline constexpr int kCaptureNone = 0;

}  // namespace kiln
