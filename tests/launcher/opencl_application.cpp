// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/opencl_application.hpp"

#include <algorithm>
#include <stdexcept>

namespace kiln::test {
namespace {

void require(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
}

}  // namespace

OpenClApplication& OpenClApplication::instance() {
  static OpenClApplication application;
  return application;
}

OpenClApplication::OpenClApplication() {
  cl_platform_id platform = nullptr;
  require(::clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  require(::clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "clGetDeviceIDs");
  cl_int code = CL_SUCCESS;
  context_ = ::clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
  require(code, "clCreateContext");
  queue_ = make_queue();
}

// PoCL compiles a kernel while it runs it. A program that ends meanwhile takes LLVM's globals away
// from under that thread, and dies.
OpenClApplication::~OpenClApplication() { ::clFinish(queue_); }

void OpenClApplication::wait() { require(::clFinish(queue_), "clFinish"); }

cl_command_queue OpenClApplication::make_queue() const {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue = ::clCreateCommandQueue(context_, device_, 0, &code);
  require(code, "clCreateCommandQueue");
  return queue;
}

cl_mem OpenClApplication::allocate(std::size_t bytes) {
  cl_int code = CL_SUCCESS;
  const cl_mem memory = ::clCreateBuffer(context_, CL_MEM_READ_WRITE,
                                         std::max<std::size_t>(bytes, 1), nullptr, &code);
  require(code, "clCreateBuffer");
  return memory;
}

void OpenClApplication::write(cl_mem memory, const void* from, std::size_t bytes) {
  require(::clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
}

void OpenClApplication::read(cl_mem memory, void* to, std::size_t bytes, cl_command_queue queue) {
  require(::clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, bytes, to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
}

}  // namespace kiln::test
