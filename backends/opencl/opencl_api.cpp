// Loading OpenCL and naming its errors.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_api.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"

namespace kiln {
namespace {

/// PoCL keeps the private arrays of a whole work-group on the stack of its threads, and overruns
/// the usual 8 MiB with configs that are fine on a GPU. Only address space is reserved.
constexpr std::size_t kThreadStackBytes = std::size_t{256} << 20;

void enlarge_thread_stacks() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) == 0 &&
      pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < kThreadStackBytes &&
      pthread_attr_setstacksize(&attributes, kThreadStackBytes) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

OpenClApi load_opencl() {
  const DynamicLibrary library(
      "OpenCL", library_candidates("KILN_OPENCL_LIBRARY", {"libOpenCL.so.1", "libOpenCL.so"}));
  OpenClApi api;
#define KILN_BIND_CALL(member, function) library.bind(api.member, #function);
  KILN_OPENCL_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  enlarge_thread_stacks();
  return api;
}

constexpr std::array<std::pair<cl_int, std::string_view>, 38> kCodeNames = {{
#define KILN_CODE(code) \
  { code, #code }
    KILN_CODE(CL_DEVICE_NOT_FOUND),
    KILN_CODE(CL_DEVICE_NOT_AVAILABLE),
    KILN_CODE(CL_COMPILER_NOT_AVAILABLE),
    KILN_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    KILN_CODE(CL_OUT_OF_RESOURCES),
    KILN_CODE(CL_OUT_OF_HOST_MEMORY),
    KILN_CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    KILN_CODE(CL_MEM_COPY_OVERLAP),
    KILN_CODE(CL_BUILD_PROGRAM_FAILURE),
    KILN_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    KILN_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    KILN_CODE(CL_INVALID_VALUE),
    KILN_CODE(CL_INVALID_PLATFORM),
    KILN_CODE(CL_INVALID_DEVICE),
    KILN_CODE(CL_INVALID_CONTEXT),
    KILN_CODE(CL_INVALID_COMMAND_QUEUE),
    KILN_CODE(CL_INVALID_MEM_OBJECT),
    KILN_CODE(CL_INVALID_BINARY),
    KILN_CODE(CL_INVALID_BUILD_OPTIONS),
    KILN_CODE(CL_INVALID_PROGRAM),
    KILN_CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    KILN_CODE(CL_INVALID_KERNEL_NAME),
    KILN_CODE(CL_INVALID_KERNEL_DEFINITION),
    KILN_CODE(CL_INVALID_KERNEL),
    KILN_CODE(CL_INVALID_ARG_INDEX),
    KILN_CODE(CL_INVALID_ARG_VALUE),
    KILN_CODE(CL_INVALID_ARG_SIZE),
    KILN_CODE(CL_INVALID_KERNEL_ARGS),
    KILN_CODE(CL_INVALID_WORK_DIMENSION),
    KILN_CODE(CL_INVALID_WORK_GROUP_SIZE),
    KILN_CODE(CL_INVALID_WORK_ITEM_SIZE),
    KILN_CODE(CL_INVALID_GLOBAL_OFFSET),
    KILN_CODE(CL_INVALID_EVENT_WAIT_LIST),
    KILN_CODE(CL_INVALID_EVENT),
    KILN_CODE(CL_INVALID_OPERATION),
    KILN_CODE(CL_INVALID_BUFFER_SIZE),
    KILN_CODE(CL_INVALID_GLOBAL_WORK_SIZE),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef KILN_CODE
}};

// NVIDIA's driver answers so after an illegal address.
constexpr cl_int kNvidiaIllegalAccess = -9999;

bool is_out_of_memory(cl_int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ||
         code == CL_INVALID_BUFFER_SIZE;
}

bool is_device_fault(cl_int code) {
  return code == kNvidiaIllegalAccess || code == CL_INVALID_COMMAND_QUEUE ||
         code == CL_DEVICE_NOT_AVAILABLE || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

}  // namespace

const OpenClApi& opencl() {
  static const OpenClApi kApi = load_opencl();
  return kApi;
}

std::string_view opencl_code_name(cl_int code) {
  for (const auto& [known, name] : kCodeNames) {
    if (known == code) return name;
  }
  return "error";
}

Failure opencl_failure(cl_int code, std::string_view call, Outcome otherwise) {
  std::string message = fmt::format("{}: {} ({})", call, opencl_code_name(code), code);
  if (is_out_of_memory(code)) return {Outcome::out_of_memory, std::move(message)};
  if (is_device_fault(code)) return {Outcome::device_fault, std::move(message), /*sticky=*/true};
  return {otherwise, std::move(message), /*sticky=*/otherwise == Outcome::device_fault};
}

}  // namespace kiln
