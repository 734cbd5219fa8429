// The five ready-made calls from a program outside the tree, on its own OpenCL queue, each result
// checked against a plain loop.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <CL/cl.h>

#include <kiln/kernels.hpp>

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

/// Whole numbers from -2 to 2: sums of their products are exact in any order.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i * 7 % 5) - 2;
  }
  return values;
}

bool reduces(const kiln::Launcher& launcher, const Queue& queue) {
  const std::vector<float> x = numbers(1000);
  float expected = 0;
  for (const float value : x) expected += value * value;
  kiln::ReduceCall call;
  call.n = 1000;
  call.map = "x * x";
  call.in = queue.upload(x);
  const cl_mem out = queue.upload(std::vector<float>(1));
  call.out = out;
  kiln::reduce(launcher, queue.get(), call).value();
  return queue.download<float>(out, 1)[0] == expected;
}

bool counts(const kiln::Launcher& launcher, const Queue& queue) {
  std::vector<std::uint8_t> bytes(5000);
  std::vector<std::uint32_t> expected(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * i % 256);
    ++expected[bytes[i]];
  }
  kiln::HistogramCall call;
  call.n = 5000;
  call.in = queue.upload(bytes);
  const cl_mem out = queue.upload(std::vector<std::uint32_t>(256, 7));
  call.counts = out;
  kiln::histogram(launcher, queue.get(), call).value();
  return queue.download<std::uint32_t>(out, 256) == expected;
}

bool transposes(const kiln::Launcher& launcher, const Queue& queue) {
  const std::vector<float> x = numbers(30 * 41);
  kiln::TransposeCall call;
  call.rows = 30;
  call.cols = 41;
  call.in = queue.upload(x);
  const cl_mem out = queue.upload(std::vector<float>(30 * 41));
  call.out = out;
  kiln::transpose(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.download<float>(out, 30 * 41);
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t c = 0; c < 41; ++c) {
      if (result[c * 30 + r] != x[r * 41 + c]) return false;
    }
  }
  return true;
}

bool multiplies(const kiln::Launcher& launcher, const Queue& queue) {
  const std::vector<float> a = numbers(20 * 33);
  const std::vector<float> b = numbers(33 * 17);
  kiln::MatmulCall call;
  call.m = 20;
  call.n = 17;
  call.k = 33;
  call.a = queue.upload(a);
  call.b = queue.upload(b);
  const cl_mem out = queue.upload(std::vector<float>(20 * 17));
  call.c = out;
  kiln::matmul(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.download<float>(out, 20 * 17);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < 17; ++j) {
      float sum = 0;
      for (std::size_t p = 0; p < 33; ++p) sum += a[i * 33 + p] * b[p * 17 + j];
      if (result[i * 17 + j] != sum) return false;
    }
  }
  return true;
}

bool convolves(const kiln::Launcher& launcher, const Queue& queue) {
  const std::vector<float> image = numbers(12 * 15);
  const std::vector<float> filter = numbers(9);
  kiln::ConvolveCall call;
  call.h = 12;
  call.w = 15;
  call.fh = 3;
  call.fw = 3;
  call.in = queue.upload(image);
  call.filter = queue.upload(filter);
  const cl_mem out = queue.upload(std::vector<float>(12 * 15));
  call.out = out;
  kiln::convolve(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.download<float>(out, 12 * 15);
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 15; ++x) {
      float sum = 0;
      for (int i = 0; i < 9; ++i) {
        const int row = y + i / 3 - 1;
        const int col = x + i % 3 - 1;
        if (row < 0 || row >= 12 || col < 0 || col >= 15) continue;
        sum +=
            image[static_cast<std::size_t>(row * 15 + col)] * filter[static_cast<std::size_t>(i)];
      }
      if (result[static_cast<std::size_t>(y * 15 + x)] != sum) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  const Queue queue;
  try {
    const kiln::Launcher launcher(kiln::Launcher::Options::on_opencl_queue(queue.get()));
    const bool right[] = {reduces(launcher, queue), counts(launcher, queue),
                          transposes(launcher, queue), multiplies(launcher, queue),
                          convolves(launcher, queue)};
    int count = 0;
    for (const bool each : right) count += each ? 1 : 0;
    std::printf("right: %d of 5\n", count);
    return count == 5 ? 0 : 1;
  } catch (const kiln::LaunchFailure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
