// The five ready-made calls on the caller's own queue and memory, each result checked against a
// plain loop.
//
// Queue is what the application has: get() is its queue or stream, upload() gives device memory
// that holds the values, download() brings some back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <kiln/kernels.hpp>

struct Sizes {
  std::size_t elements, samples, rows, cols, m, n, k, height, width;
};
/// Quick on a CPU; odd, so that nothing divides them.
constexpr Sizes kSmall{1000, 5000, 30, 41, 20, 17, 33, 12, 15};
/// Of every block of a GPU.
constexpr Sizes kLarge{1000003, 5000001, 3001, 2047, 512, 500, 384, 1080, 1917};

/// `large` as the only argument chooses kLarge.
inline const Sizes& sizes_of(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "large" ? kLarge : kSmall;
}

/// Whole numbers from -2 to 2: sums of their products are exact in any order.
inline std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7 % 5) - 2;
  return values;
}

inline std::int64_t size(std::size_t value) { return static_cast<std::int64_t>(value); }

template <typename Queue>
bool reduces(const kiln::Launcher& launcher, const Queue& queue, const Sizes& sizes) {
  const std::vector<float> x = numbers(sizes.elements);
  float expected = 0;
  for (const float value : x) expected += value * value;
  kiln::ReduceCall call;
  call.n = size(sizes.elements);
  call.map = "x * x";
  call.in = queue.upload(x);
  const auto out = queue.upload(std::vector<float>(1));
  call.out = out;
  kiln::reduce(launcher, queue.get(), call).value();
  return queue.template download<float>(out, 1)[0] == expected;
}

template <typename Queue>
bool counts(const kiln::Launcher& launcher, const Queue& queue, const Sizes& sizes) {
  std::vector<std::uint8_t> bytes(sizes.samples);
  std::vector<std::uint32_t> expected(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * i % 256);
    ++expected[bytes[i]];
  }
  kiln::HistogramCall call;
  call.n = size(sizes.samples);
  call.in = queue.upload(bytes);
  const auto out = queue.upload(std::vector<std::uint32_t>(256, 7));
  call.counts = out;
  kiln::histogram(launcher, queue.get(), call).value();
  return queue.template download<std::uint32_t>(out, 256) == expected;
}

template <typename Queue>
bool transposes(const kiln::Launcher& launcher, const Queue& queue, const Sizes& sizes) {
  const std::size_t count = sizes.rows * sizes.cols;
  const std::vector<float> x = numbers(count);
  kiln::TransposeCall call;
  call.rows = size(sizes.rows);
  call.cols = size(sizes.cols);
  call.in = queue.upload(x);
  const auto out = queue.upload(std::vector<float>(count));
  call.out = out;
  kiln::transpose(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.template download<float>(out, count);
  for (std::size_t r = 0; r < sizes.rows; ++r) {
    for (std::size_t c = 0; c < sizes.cols; ++c) {
      if (result[c * sizes.rows + r] != x[r * sizes.cols + c]) return false;
    }
  }
  return true;
}

template <typename Queue>
bool multiplies(const kiln::Launcher& launcher, const Queue& queue, const Sizes& sizes) {
  const std::vector<float> a = numbers(sizes.m * sizes.k);
  const std::vector<float> b = numbers(sizes.k * sizes.n);
  kiln::MatmulCall call;
  call.m = size(sizes.m);
  call.n = size(sizes.n);
  call.k = size(sizes.k);
  call.a = queue.upload(a);
  call.b = queue.upload(b);
  const auto out = queue.upload(std::vector<float>(sizes.m * sizes.n));
  call.c = out;
  kiln::matmul(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.template download<float>(out, sizes.m * sizes.n);
  std::vector<float> row(sizes.n);
  for (std::size_t i = 0; i < sizes.m; ++i) {
    row.assign(sizes.n, 0);
    for (std::size_t p = 0; p < sizes.k; ++p) {
      for (std::size_t j = 0; j < sizes.n; ++j) row[j] += a[i * sizes.k + p] * b[p * sizes.n + j];
    }
    for (std::size_t j = 0; j < sizes.n; ++j) {
      if (result[i * sizes.n + j] != row[j]) return false;
    }
  }
  return true;
}

template <typename Queue>
bool convolves(const kiln::Launcher& launcher, const Queue& queue, const Sizes& sizes) {
  const std::vector<float> image = numbers(sizes.height * sizes.width);
  const std::vector<float> filter = numbers(9);
  kiln::ConvolveCall call;
  call.h = size(sizes.height);
  call.w = size(sizes.width);
  call.fh = 3;
  call.fw = 3;
  call.in = queue.upload(image);
  call.filter = queue.upload(filter);
  const auto out = queue.upload(std::vector<float>(image.size()));
  call.out = out;
  kiln::convolve(launcher, queue.get(), call).value();
  const std::vector<float> result = queue.template download<float>(out, image.size());
  const auto pixel = [&](std::int64_t row, std::int64_t col) {
    const bool inside = row >= 0 && row < call.h && col >= 0 && col < call.w;
    return inside ? image[static_cast<std::size_t>(row * call.w + col)] : 0.0F;
  };
  for (std::int64_t y = 0; y < call.h; ++y) {
    for (std::int64_t x = 0; x < call.w; ++x) {
      float sum = 0;
      for (int i = 0; i < 9; ++i) {
        sum += pixel(y + i / 3 - 1, x + i % 3 - 1) * filter[static_cast<std::size_t>(i)];
      }
      if (result[static_cast<std::size_t>(y * call.w + x)] != sum) return false;
    }
  }
  return true;
}

/// All five on one launcher, said on standard output. The exit code of the program.
template <typename Queue>
int run_calls(const Queue& queue, const kiln::Launcher::Options& options, const Sizes& sizes) {
  try {
    const kiln::Launcher launcher(options);
    int right = 0;
    const auto say = [&](const char* call, bool is_right) {
      if (!is_right) std::printf("%s: wrong\n", call);
      right += is_right ? 1 : 0;
    };
    say("reduce", reduces(launcher, queue, sizes));
    say("histogram", counts(launcher, queue, sizes));
    say("transpose", transposes(launcher, queue, sizes));
    say("matmul", multiplies(launcher, queue, sizes));
    say("convolve", convolves(launcher, queue, sizes));
    std::printf("%s\nright: %d of 5\n", launcher.device().c_str(), right);
    return right == 5 ? 0 : 1;
  } catch (const kiln::LaunchFailure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
