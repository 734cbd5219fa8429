// An application with its own CUDA context and stream that lets Kiln choose the kernels.
//
//   launch_cuda [N]
//
// It computes a dot product of two vectors on its stream a hundred times with one prepared kernel,
// checks the result against a plain loop, and prints which config ran, and why.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include <kiln/launcher.hpp>

#include "cuda_driver.hpp"

namespace {

constexpr int kSkipped = 77;  // what the tests take for "not here"

/// Everything a CUDA application has before it meets Kiln.
class Application {
 public:
  Application() {
    cuda_.call("cuInit", 0U);
    cuda_.call("cuDeviceGet", &device_, 0);
    CUcontext context = nullptr;
    cuda_.call("cuDevicePrimaryCtxRetain", &context, device_);
    cuda_.call("cuCtxSetCurrent", context);
    cuda_.call("cuStreamCreate", &stream_, 0U);
  }

  [[nodiscard]] CUstream stream() const { return stream_; }
  /// Memory that lives as long as the process.
  [[nodiscard]] float* allocate(std::size_t count) const {
    CUdeviceptr address = 0;
    cuda_.call("cuMemAlloc_v2", &address, count * sizeof(float));
    return reinterpret_cast<float*>(address);
  }
  [[nodiscard]] float* upload(const std::vector<float>& from) const {
    float* to = allocate(from.size());
    cuda_.call("cuMemcpyHtoDAsync_v2", reinterpret_cast<CUdeviceptr>(to),
               static_cast<const void*>(from.data()), from.size() * sizeof(float), stream_);
    return to;
  }
  [[nodiscard]] float download(const float* from) const {
    float to = 0;
    cuda_.call("cuMemcpyDtoHAsync_v2", static_cast<void*>(&to), reinterpret_cast<CUdeviceptr>(from),
               sizeof(float), stream_);
    cuda_.call("cuStreamSynchronize", stream_);
    return to;
  }

 private:
  CudaDriver cuda_;
  CUdevice device_ = 0;
  CUstream stream_ = nullptr;
};

int run(const Application& application, std::size_t n) {
  std::vector<float> x(n);
  std::vector<float> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 3) - 1;
    y[i] = static_cast<float>(i % 5) - 2;
  }
  const float* device_x = application.upload(x);
  const float* device_y = application.upload(y);
  float* result = application.allocate(1);

  const kiln::Launcher launcher(kiln::Launcher::Options::on_cuda_stream(application.stream()));
  std::printf("device     %s\n", launcher.device().c_str());
  for (const auto& warning : launcher.warnings()) {
    std::printf("warning    %s\n", warning.message.c_str());
  }
  const kiln::Launcher::Kernel dot =
      launcher.prepare("reduce", "op=dot n=" + std::to_string(n)).value();
  std::printf("reduce     %s\n           %s: %s\n", dot.match().config.c_str(),
              kiln::to_string(dot.match().grade), dot.match().reason.c_str());
  for (int i = 0; i < 100; ++i) {
    dot.launch(application.stream(),
               {kiln::array("in", device_x, n), kiln::array("other", device_y, n),
                kiln::array("out", result, 1)})
        .value();
  }

  const float expected = std::inner_product(x.begin(), x.end(), y.begin(), 0.0F);
  const float computed = application.download(result);
  std::printf("dot product: %g (expected %g)\n", static_cast<double>(computed),
              static_cast<double>(expected));
  return computed == expected ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
  std::optional<Application> application;
  try {
    application.emplace();
  } catch (const std::runtime_error& reason) {
    std::printf("skipped: %s\n", reason.what());
    return kSkipped;
  }
  try {
    return run(*application, n);
  } catch (const std::runtime_error& failure) {  // a kiln::LaunchFailure is one, too
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
