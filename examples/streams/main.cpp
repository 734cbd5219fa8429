// An integral in eight intervals on two CUDA streams: while one stream adds up its interval, the
// other one copies the next.
//
//   streams [POINTS]
//
// POINTS: midpoints of each interval (default 2^22). The integral of sin(2x)^2 * cos(x)^2 over
// [0, 1] is computed on one stream and on two, from pinned host memory, and checked against its
// closed form. The times are those of the fastest of ten runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include <kiln/launcher.hpp>

#include "../launch_cuda/cuda_driver.hpp"

namespace {

constexpr int kSkipped = 77;  // what the tests take for "not here"
constexpr std::size_t kIntervals = 8;
constexpr std::size_t kStreams = 2;
constexpr std::size_t kResultStride = 4;  // floats: the launcher wants multiples of 16 bytes
constexpr int kRuns = 10;

/// Two streams, the memory of each on the device, and pinned memory of the host, which the device
/// copies by itself. All of it lives as long as the process.
class Application {
 public:
  explicit Application(std::size_t points) : points_(points) {
    cuda_.call("cuInit", 0U);
    CUdevice device = 0;
    cuda_.call("cuDeviceGet", &device, 0);
    CUcontext context = nullptr;
    cuda_.call("cuDevicePrimaryCtxRetain", &context, device);
    cuda_.call("cuCtxSetCurrent", context);
    constexpr unsigned kNonBlocking = 1;  // the two do not wait for each other
    for (std::size_t s = 0; s < kStreams; ++s) {
      cuda_.call("cuStreamCreate", &streams_[s], kNonBlocking);
      cuda_.call("cuMemAlloc_v2", &device_points_[s], points * sizeof(float));
    }
    cuda_.call("cuMemAlloc_v2", &device_results_, kIntervals * kResultStride * sizeof(float));
    for (float*& interval : host_points_) interval = pinned(points);
    host_results_ = pinned(kIntervals * kResultStride);
    fill_midpoints();
  }

  [[nodiscard]] CUstream stream(std::size_t s) const { return streams_[s]; }

  /// The integral, its intervals dealt to the first `streams` streams in turn.
  double integrate(const kiln::Launcher::Kernel& sum, std::size_t streams) const {
    for (std::size_t i = 0; i < kIntervals; ++i) {
      const std::size_t s = i % streams;
      const CUdeviceptr result = device_results_ + i * kResultStride * sizeof(float);
      cuda_.call("cuMemcpyHtoDAsync_v2", device_points_[s],
                 static_cast<const void*>(host_points_[i]), points_ * sizeof(float), streams_[s]);
      sum.launch(streams_[s],
                 {kiln::array("in", reinterpret_cast<const float*>(device_points_[s]), points_),
                  kiln::array("out", reinterpret_cast<float*>(result), 1)})
          .value();
      cuda_.call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host_results_ + i * kResultStride),
                 result, sizeof(float), streams_[s]);
    }
    for (std::size_t s = 0; s < streams; ++s) cuda_.call("cuStreamSynchronize", streams_[s]);
    double total = 0;
    for (std::size_t i = 0; i < kIntervals; ++i) {
      total += static_cast<double>(host_results_[i * kResultStride]);
    }
    return total / static_cast<double>(kIntervals * points_);
  }

 private:
  [[nodiscard]] float* pinned(std::size_t count) const {
    void* memory = nullptr;
    cuda_.call("cuMemHostAlloc", &memory, count * sizeof(float), 0U);
    return static_cast<float*>(memory);
  }

  void fill_midpoints() {
    const double width = 1.0 / static_cast<double>(kIntervals * points_);
    for (std::size_t i = 0; i < kIntervals * points_; ++i) {
      host_points_[i / points_][i % points_] =
          static_cast<float>((static_cast<double>(i) + 0.5) * width);
    }
  }

  CudaDriver cuda_;
  std::size_t points_;
  std::array<CUstream, kStreams> streams_{};
  std::array<CUdeviceptr, kStreams> device_points_{};
  CUdeviceptr device_results_ = 0;
  std::array<float*, kIntervals> host_points_{};
  float* host_results_ = nullptr;
};

/// Milliseconds of the fastest run; the first ones also compile and allocate.
double fastest(const Application& application, const kiln::Launcher::Kernel& sum,
               std::size_t streams, double* integral) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    *integral = application.integrate(sum, streams);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

int run(const Application& application, std::size_t points) {
  const kiln::Launcher launcher(kiln::Launcher::Options::on_cuda_stream(application.stream(0)));
  const std::string problem = "n=" + std::to_string(points) + " map='sin(2*x)**2*cos(x)**2'";
  const kiln::Launcher::Kernel sum = launcher.prepare("reduce", problem).value();
  std::printf("device       %s\n", launcher.device().c_str());
  std::printf("reduce       %s: %s\n", sum.match().config.c_str(),
              kiln::to_string(sum.match().grade));

  const double expected = (1 + std::sin(2.0) / 4 - std::sin(4.0) / 4 - std::sin(6.0) / 12) / 4;
  double integral = 0;
  for (std::size_t streams = 1; streams <= kStreams; ++streams) {
    const double milliseconds = fastest(application, sum, streams, &integral);
    std::printf("%zu stream%s    %.3f ms, integral %.7f (expected %.7f)\n", streams,
                streams == 1 ? " " : "s", milliseconds, integral, expected);
    if (std::abs(integral - expected) > 1e-5) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t points = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 22;
  std::optional<Application> application;
  try {
    application.emplace(points);
  } catch (const std::runtime_error& reason) {
    std::printf("skipped: %s\n", reason.what());
    return kSkipped;
  }
  try {
    return run(*application, points);
  } catch (const std::runtime_error& failure) {  // a kiln::LaunchFailure is one, too
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
