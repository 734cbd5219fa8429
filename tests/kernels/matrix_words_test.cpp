// The dialect's words for matrix units and asynchronous copies: compiled by each backend's
// compiler, and run where its first device has them.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "templates/prelude.hpp"
#include "tests/backends/required.hpp"

namespace kiln::test {
namespace {

// One warp multiplies 16 x 16 elements, which are read along k for `along` and across it for
// `across`. The last eight elements of each operand, and every eighth of b, are not copied: zeros.
constexpr const char* kProduct = R"(
DEVICE_FUNCTION void store(GLOBAL f32* to, f32* sum, int lane) {
  MATRIX_ORDER(sum, lane);
  UNROLL
  for (int i = 0; i < MATRIX_SUMS; ++i)
    to[MATRIX_SUM_ROW(lane, i) * 16 + MATRIX_SUM_COLUMN(lane, i)] = sum[i];
}

KERNEL(WARP_SIZE, 1, 1) product(GLOBAL const u16* a, GLOBAL const u16* b, GLOBAL f32* along, GLOBAL f32* across) {
  SHARED u16 tile_a[256];
  SHARED u16 tile_b[256];
  const int lane = THREAD_X;
  for (int i = lane; i < 32; i += WARP_SIZE) {
    ASYNC_COPY_16_IF(i < 16, tile_a + i * 8, a + i * 8);
    if (i >= 16) ASYNC_COPY_16(tile_a + i * 8, a + i * 8, i < 31 ? 16 : 0);
    ASYNC_COPY_8_IF(i < 16, tile_b + i * 8, b + i * 8);
    if (i >= 16) ASYNC_COPY_8(tile_b + i * 8, b + i * 8, i < 31 ? 8 : 0);
    ASYNC_COPY_4_IF(i < 16, tile_b + i * 8 + 4, b + i * 8 + 4);
    if (i >= 16) ASYNC_COPY_4(tile_b + i * 8 + 4, b + i * 8 + 4, i < 31 ? 4 : 0);
    ASYNC_COPY_4(tile_b + i * 8 + 6, b + i * 8 + 6, i < 31 ? 2 : 0);
    ASYNC_COPY_16_IF(0, tile_b, (GLOBAL const u16*)0);  // reads and writes nothing
  }
  ASYNC_COMMIT();
  ASYNC_WAIT(0);
  BARRIER();
  u32 fragment_a[MATRIX_WORDS];
  u32 fragment_b[MATRIX_WORDS];
  f32 sum[MATRIX_SUMS];
  UNROLL
  for (int i = 0; i < MATRIX_SUMS; ++i) sum[i] = 1;
  UNROLL
  for (int r = 0; r < MATRIX_RUNS; ++r) {
    MATRIX_LOAD(fragment_a, r, tile_a + MATRIX_ROW_A(lane) * 16 + MATRIX_BYTE_A(lane, r) / 2);
    MATRIX_LOAD(fragment_b, r, tile_b + MATRIX_ROW_B(lane) * 16 + MATRIX_BYTE_B(lane, r) / 2);
  }
  MATRIX_MULTIPLY_TYPE(sum, fragment_a, fragment_b);
  store(along, sum, lane);
  UNROLL
  for (int i = 0; i < MATRIX_SUMS; ++i) sum[i] = 1;
  UNROLL
  for (int r = 0; r < MATRIX_RUNS_ACROSS; ++r) {
    MATRIX_LOAD_ACROSS(fragment_a, r, tile_a + MATRIX_STEP_ACROSS_A(lane, r) * 16 + MATRIX_ROW_ACROSS_A(lane));
    MATRIX_LOAD_ACROSS(fragment_b, r, tile_b + MATRIX_STEP_ACROSS_B(lane, r) * 16 + MATRIX_ROW_ACROSS_B(lane));
  }
  MATRIX_MULTIPLY_TYPE(sum, fragment_a, fragment_b);
  store(across, sum, lane);
}
)";

struct Type {
  std::string word;
  std::array<std::uint16_t, 4> bits;  ///< of kValues
};
constexpr std::array<float, 4> kValues = {1, 2, -1, 0.5F};
const Type kF16 = {"MATRIX_MULTIPLY_F16", {0x3C00, 0x4000, 0xBC00, 0x3800}};
const Type kBf16 = {"MATRIX_MULTIPLY_BF16", {0x3F80, 0x4000, 0xBF80, 0x3F00}};

void PrintTo(const Type& type, std::ostream* stream) { *stream << type.word; }

/// Which of kValues element i is; no pattern repeats within a tile.
std::size_t pick(std::size_t i, std::size_t seed) { return (i * i * 7 + i / 3 + seed) % 4; }

/// 1 + sum over k of a[r][k] * b[c][k], or, across, of a[k][r] * b[k][c].
std::vector<float> expected(bool across) {
  const auto value = [](std::size_t i, std::size_t seed) {
    const bool is_zero = i >= 248 || (seed == 1 && i % 8 == 7);
    return is_zero ? 0.0F : kValues[pick(i, seed)];
  };
  std::vector<float> sums(256);
  for (std::size_t r = 0; r < 16; ++r) {
    for (std::size_t c = 0; c < 16; ++c) {
      float sum = 1;
      for (std::size_t k = 0; k < 16; ++k) {
        sum += across ? value(k * 16 + r, 0) * value(k * 16 + c, 1)
                      : value(r * 16 + k, 0) * value(c * 16 + k, 1);
      }
      sums[r * 16 + c] = sum;
    }
  }
  return sums;
}

bool has_matrix_words(const DeviceInfo& device) {
  if (device.backend == "cuda") return device.compute_capability >= 80;
  return device.vendor == "amd" && device.architecture.starts_with("gfx9") &&
         device.architecture >= "gfx90a";
}

class MatrixWords : public testing::TestWithParam<Type> {
 protected:
  Buffer upload(std::span<const std::byte> bytes) {
    const Result<Buffer> buffer = device_->allocate(bytes.size());
    EXPECT_TRUE(buffer) << buffer.failure().message;
    EXPECT_TRUE(device_->upload(*buffer, 0, bytes));
    return *buffer;
  }
  Buffer operand(std::size_t seed) {
    std::vector<std::uint16_t> bits(256);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = GetParam().bits[pick(i, seed)];
    return upload(std::as_bytes(std::span(bits)));
  }
  std::vector<float> download(const Buffer& buffer) {
    std::vector<float> values(256);
    EXPECT_TRUE(device_->download(buffer, 0, std::as_writable_bytes(std::span(values))));
    return values;
  }

  void compile_for(const DeviceInfo& info) {
    std::unique_ptr<Compiler> compiler;
    try {
      compiler = backend_->open_compiler(info);
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED(info.backend == "cuda" ? "nvrtc" : "hiprtc", error.what());
    }
    std::string text = kProduct;
    for (std::size_t at; (at = text.find("MATRIX_MULTIPLY_TYPE")) != std::string::npos;)
      text.replace(at, 20, GetParam().word);
    Source source;
    source.name = "product";
    source.text = prelude_for(info.backend, text, info.warp_size) + text;
    source.entries = {"product"};
    Result<Binary> binary = compiler->compile(source);
    ASSERT_TRUE(binary) << binary.failure().message;
    EXPECT_EQ(binary->spill_bytes, 0);
    binary_ = std::move(*binary);
  }

  std::unique_ptr<Backend> backend_ = make_backend(KILN_TEST_BACKEND);
  std::unique_ptr<Device> device_;
  Binary binary_;
};

TEST_P(MatrixWords, MultiplyWhatLiesAlongAndAcrossK) {
  DeviceInfo info = device_for_architecture(
      KILN_TEST_BACKEND, std::string(KILN_TEST_BACKEND) == "cuda" ? "sm_80" : "gfx90a");
  try {
    device_ = backend_->open_device(0);
    if (!has_matrix_words(device_->info())) device_ = nullptr;
  } catch (const DeviceError&) {
    device_ = nullptr;  // the compiler needs none
  }
  if (device_) info = device_->info();
  compile_for(info);
  if (!device_ || HasFatalFailure() || IsSkipped()) return;

  const Result<std::unique_ptr<Module>> module = device_->load(binary_);
  ASSERT_TRUE(module) << module.failure().message;
  const std::vector<float> nothing(256, -777);
  std::array<KernelArgument, 4> arguments;
  arguments[0].buffer = operand(0);
  arguments[1].buffer = operand(1);
  arguments[2].buffer = upload(std::as_bytes(std::span(nothing)));
  arguments[3].buffer = upload(std::as_bytes(std::span(nothing)));
  Launch launch;
  launch.module = module->get();
  launch.entry = "product";
  launch.block = {static_cast<unsigned>(info.warp_size), 1, 1};
  launch.arguments = arguments;
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;
  EXPECT_EQ(download(arguments[2].buffer), expected(/*across=*/false));
  EXPECT_EQ(download(arguments[3].buffer), expected(/*across=*/true));
}

INSTANTIATE_TEST_SUITE_P(Each, MatrixWords, testing::Values(kF16, kBf16),
                         [](const auto& each) { return each.param.word; });

}  // namespace
}  // namespace kiln::test
