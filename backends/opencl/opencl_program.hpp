// OpenCL programs: source to Binary (the compiler's side) and Binary to kernels (the device's
// side).
//
// A Binary holds what clGetProgramInfo gives behind a marker line: of the linked program or, for
// one use with PoCL, of the compiled one, which loading links. Where a driver gives nothing, it
// holds the source, and loading compiles again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backends/backend.hpp"
#include "backends/opencl/opencl_api.hpp"

namespace kiln {

/// What programs are built with beside their own options: a*b+c may become one fma, as the GPU
/// compilers do by default; nothing that changes results further.
inline constexpr std::string_view kOpenClOptions = "-cl-std=CL1.2 -cl-mad-enable";

/// Compiles for one device in a context of its own.
[[nodiscard]] std::unique_ptr<Compiler> make_opencl_compiler(cl_device_id device);

struct OpenClKernel {
  std::string name;
  OwnedKernel handle;
  cl_uint parameter_count = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t max_threads = 0;
};

class OpenClModule final : public Module {
 public:
  OpenClModule(OwnedProgram program, cl_device_id device)
      : program_(std::move(program)), device_(device) {}

  /// The kernel called `name`, made on first use. A Failure{launch_error} when the program has
  /// none.
  [[nodiscard]] Result<const OpenClKernel*> kernel(std::string_view name);
  /// One of the caller's own: its arguments are nobody else's.
  [[nodiscard]] Result<OpenClKernel> make_kernel(std::string_view name) const;

 private:
  OwnedProgram program_;
  cl_device_id device_;
  std::deque<OpenClKernel> kernels_;  // few; a deque keeps the addresses
};

[[nodiscard]] Result<std::unique_ptr<Module>> load_opencl_module(cl_context context,
                                                                 cl_device_id device,
                                                                 const Binary& binary);

}  // namespace kiln
