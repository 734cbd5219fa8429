// The ready-made calls from a program outside the tree, on its own OpenCL queue.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <CL/cl.h>

#include "calls.hpp"

namespace {

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "%s failed: %d\n", call, code);
    std::exit(1);
  }
}

class Queue {
 public:
  Queue() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_int code = CL_SUCCESS;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device, 0, &code);
    check(code, "clCreateCommandQueue");
  }
  ~Queue() { clFinish(queue_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] cl_command_queue get() const { return queue_; }
  template <typename T>
  [[nodiscard]] cl_mem upload(std::vector<T> values) const {
    cl_int code = CL_SUCCESS;
    const cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         values.size() * sizeof(T), values.data(), &code);
    check(code, "clCreateBuffer");
    return memory;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> download(cl_mem from, std::size_t count) const {
    std::vector<T> to(count);
    check(clEnqueueReadBuffer(queue_, from, CL_TRUE, 0, count * sizeof(T), to.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    return to;
  }

 private:
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const Queue queue;
  return run_calls(queue, kiln::Launcher::Options::on_opencl_queue(queue.get()),
                   sizes_of(argc, argv));
}
