// An application with its own OpenCL context and queue that lets Kiln choose the kernels.
//
//   launch_opencl [ROWS COLS]
//
// It transposes a matrix and adds up the squares of the result; checks each step
// against plain loops; and prints which configs ran, and why. With a database of `kiln tune`
// (KILN_DB, or the default place) those are the tuned ones.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <CL/cl.h>

#include <kiln/kernels.hpp>

namespace {

constexpr int kSkipped = 77;  // what the tests take for "not here"

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "%s failed: %d\n", call, code);
    std::exit(1);
  }
}

/// Everything an OpenCL application has before it meets Kiln.
struct Application {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Application() {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      std::puts("skipped: there is no OpenCL device");
      std::exit(kSkipped);
    }
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "clCreateCommandQueue");
  }
  ~Application() {
    clFinish(queue);  // a program must not end while a driver still works for it
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  [[nodiscard]] cl_mem allocate(std::size_t count) const {
    cl_int code = CL_SUCCESS;
    const cl_mem memory =
        clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof(float), nullptr, &code);
    check(code, "clCreateBuffer");
    return memory;
  }
  void write(cl_mem to, const std::vector<float>& from) const {
    check(clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, from.size() * sizeof(float), from.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  [[nodiscard]] std::vector<float> read(cl_mem from, std::size_t count) const {
    std::vector<float> to(count);
    check(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof(float), to.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    return to;
  }
};

void report(const char* kernel, const kiln::Launcher::Match& match) {
  std::printf("%-10s %s\n           %s: %s\n", kernel, match.config.c_str(),
              kiln::to_string(match.grade), match.reason.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 2 ? std::atol(argv[1]) : 300;
  const long cols = argc > 2 ? std::atol(argv[2]) : 200;
  const auto count = static_cast<std::size_t>(rows * cols);
  const Application application;
  const cl_command_queue queue = application.queue;

  try {
    const kiln::Launcher launcher(kiln::Launcher::Options::on_opencl_queue(queue));
    std::printf("device     %s\n", launcher.device().c_str());
    for (const auto& warning : launcher.warnings()) {
      std::printf("warning    %s\n", warning.message.c_str());
    }

    // A kernel kept for a hot loop: prepared once, launched with the application's memory.
    const std::string shape = "rows=" + std::to_string(rows) + " cols=" + std::to_string(cols);
    const kiln::Launcher::Kernel transpose = launcher.prepare("transpose", shape).value();
    report("transpose", transpose.match());
    std::vector<float> matrix(count);
    for (std::size_t i = 0; i < count; ++i) {
      matrix[i] = static_cast<float>(i % 7) - 3;
    }
    const cl_mem in = application.allocate(count);
    const cl_mem out = application.allocate(count);
    application.write(in, matrix);
    transpose
        .launch(queue, {kiln::memory("in", in, count * sizeof(float)),
                        kiln::memory("out", out, count * sizeof(float))})
        .value();

    // The same kernels as calls; they queue up behind the transpose, nothing waits.
    kiln::ReduceCall square_sum;
    square_sum.n = rows * cols;
    square_sum.map = "x * x";
    square_sum.in = out;
    const cl_mem sum = application.allocate(1);
    square_sum.out = sum;
    kiln::reduce(launcher, queue, square_sum).value();
    report("reduce",
           *launcher.select("reduce", "n=" + std::to_string(rows * cols) + " map='x * x'").value());

    const std::vector<float> transposed = application.read(out, count);
    float expected_sum = 0;
    for (long r = 0; r < rows; ++r) {
      for (long c = 0; c < cols; ++c) {
        const float element = matrix[static_cast<std::size_t>(r * cols + c)];
        expected_sum += element * element;
        if (transposed[static_cast<std::size_t>(c * rows + r)] != element) {
          std::printf("wrong: out[%ld][%ld]\n", c, r);
          return 1;
        }
      }
    }
    const float computed_sum = application.read(sum, 1)[0];
    std::printf("sum of squares: %g (expected %g)\n", static_cast<double>(computed_sum),
                static_cast<double>(expected_sum));
    for (const cl_mem memory : {in, out, sum}) {
      clReleaseMemObject(memory);
    }
    return computed_sum == expected_sum ? 0 : 1;
  } catch (const kiln::LaunchFailure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
