// The OpenCL 1.2 calls that Kiln makes, bound at run time. The only header that includes CL/cl.h.
//
// 1.2 is what every OpenCL device of today offers, so nothing newer is used and no version is asked
// for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <CL/cl.h>

#include "core/result.hpp"

// clang-format off
#define KILN_OPENCL_CALLS(CALL)                                    \
  CALL(get_platform_ids, clGetPlatformIDs)                         \
  CALL(get_platform_info, clGetPlatformInfo)                       \
  CALL(get_device_ids, clGetDeviceIDs)                             \
  CALL(get_device_info, clGetDeviceInfo)                           \
  CALL(create_context, clCreateContext)                            \
  CALL(retain_context, clRetainContext)                            \
  CALL(release_context, clReleaseContext)                          \
  CALL(create_command_queue, clCreateCommandQueue)                 \
  CALL(retain_command_queue, clRetainCommandQueue)                 \
  CALL(release_command_queue, clReleaseCommandQueue)               \
  CALL(get_command_queue_info, clGetCommandQueueInfo)              \
  CALL(create_buffer, clCreateBuffer)                              \
  CALL(create_sub_buffer, clCreateSubBuffer)                       \
  CALL(release_mem_object, clReleaseMemObject)                     \
  CALL(create_program_with_source, clCreateProgramWithSource)      \
  CALL(create_program_with_binary, clCreateProgramWithBinary)      \
  CALL(build_program, clBuildProgram)                              \
  CALL(compile_program, clCompileProgram)                          \
  CALL(link_program, clLinkProgram)                                \
  CALL(get_program_info, clGetProgramInfo)                         \
  CALL(get_program_build_info, clGetProgramBuildInfo)              \
  CALL(release_program, clReleaseProgram)                          \
  CALL(create_kernel, clCreateKernel)                              \
  CALL(get_kernel_info, clGetKernelInfo)                           \
  CALL(get_kernel_work_group_info, clGetKernelWorkGroupInfo)       \
  CALL(set_kernel_arg, clSetKernelArg)                             \
  CALL(release_kernel, clReleaseKernel)                            \
  CALL(enqueue_nd_range_kernel, clEnqueueNDRangeKernel)            \
  CALL(enqueue_write_buffer, clEnqueueWriteBuffer)                 \
  CALL(enqueue_read_buffer, clEnqueueReadBuffer)                   \
  CALL(enqueue_copy_buffer, clEnqueueCopyBuffer)                   \
  CALL(enqueue_fill_buffer, clEnqueueFillBuffer)                   \
  CALL(enqueue_migrate_mem_objects, clEnqueueMigrateMemObjects)    \
  CALL(enqueue_marker_with_wait_list, clEnqueueMarkerWithWaitList) \
  CALL(enqueue_barrier_with_wait_list, clEnqueueBarrierWithWaitList) \
  CALL(wait_for_events, clWaitForEvents)                           \
  CALL(get_event_info, clGetEventInfo)                             \
  CALL(get_event_profiling_info, clGetEventProfilingInfo)          \
  CALL(release_event, clReleaseEvent)                              \
  CALL(finish, clFinish)
// clang-format on

namespace kiln {

struct OpenClApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(member, function) decltype(&::function) member = nullptr;
  KILN_OPENCL_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
};

/// The process's OpenCL, loaded by the first call. Throws DeviceError when there is none.
/// KILN_OPENCL_LIBRARY names another library than the system's loader.
[[nodiscard]] const OpenClApi& opencl();

/// "CL_OUT_OF_RESOURCES", or "error" for a code without a name here.
[[nodiscard]] std::string_view opencl_code_name(cl_int code);

/// What a failed call means for the config: out of memory, a dead device, or `otherwise`.
[[nodiscard]] Failure opencl_failure(cl_int code, std::string_view call,
                                     Outcome otherwise = Outcome::launch_error);

/// Owners. The deleter is the vendor's release call.
template <typename Handle>
struct OpenClRelease {
  using pointer = Handle;
  cl_int(CL_API_CALL* release)(Handle) = nullptr;
  void operator()(Handle handle) const { release(handle); }
};
template <typename Handle>
using OpenClOwner = std::unique_ptr<std::remove_pointer_t<Handle>, OpenClRelease<Handle>>;

using OwnedContext = OpenClOwner<cl_context>;
using OwnedQueue = OpenClOwner<cl_command_queue>;
using OwnedMemory = OpenClOwner<cl_mem>;
using OwnedProgram = OpenClOwner<cl_program>;
using OwnedKernel = OpenClOwner<cl_kernel>;
using OwnedEvent = OpenClOwner<cl_event>;

[[nodiscard]] inline OwnedContext own(cl_context x) { return {x, {opencl().release_context}}; }
[[nodiscard]] inline OwnedQueue own(cl_command_queue x) {
  return {x, {opencl().release_command_queue}};
}
[[nodiscard]] inline OwnedMemory own(cl_mem x) { return {x, {opencl().release_mem_object}}; }
[[nodiscard]] inline OwnedProgram own(cl_program x) { return {x, {opencl().release_program}}; }
[[nodiscard]] inline OwnedKernel own(cl_kernel x) { return {x, {opencl().release_kernel}}; }
[[nodiscard]] inline OwnedEvent own(cl_event x) { return {x, {opencl().release_event}}; }

}  // namespace kiln

/// Returns a Failure from the calling function when an OpenCL call does not succeed.
#define KILN_OPENCL_TRY(function, ...)                                   \
  do {                                                                   \
    if (const cl_int kiln_code = ::kiln::opencl().function(__VA_ARGS__); \
        kiln_code != CL_SUCCESS) {                                       \
      return ::kiln::opencl_failure(kiln_code, #function);               \
    }                                                                    \
  } while (false)
