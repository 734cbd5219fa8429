// The words for i8 and the 8-bit floats: what a kernel converts is what the host converts, for
// every code and for floats of every size. Each architecture compiles them, by instructions of its
// own or by the plain code.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "templates/small_floats.hpp"
#include "tests/kernels/words_fixture.hpp"

namespace kiln::test {
namespace {

constexpr const char* kConvert = R"(
KERNEL(64, 1, 1) convert(
    GLOBAL const f32* values, i32 n, GLOBAL e4m3_t* e4m3, GLOBAL e5m2_t* e5m2,
    GLOBAL f32* of_e4m3, GLOBAL f32* of_e5m2, GLOBAL i32* of_i8) {
  for (int i = THREAD_X; i < n; i += 64) {
    e4m3[i] = F32_TO_E4M3(values[i]);
    e5m2[i] = F32_TO_E5M2(values[i]);
  }
  for (int code = THREAD_X; code < 256; code += 64) {
    of_e4m3[code] = E4M3_TO_F32((e4m3_t)code);
    of_e5m2[code] = E5M2_TO_F32((e5m2_t)code);
    of_i8[code] = (i32)(i8)(code - 128);
  }
}
)";

/// Floats of every size, most of them where the 8-bit floats end and where their ties are.
std::vector<float> values_to_convert() {
  std::vector<float> values = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, -NAN, 464.0F, 61440.0F};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const auto whole = static_cast<float>(static_cast<std::int32_t>(random()));
    values.push_back(std::ldexp(whole, static_cast<int>(random() % 40) - 53));
  }
  for (const SmallFloat& format : {kE4m3, kE5m2}) {
    for (std::uint16_t code = 0; code < format.largest; ++code) {
      const double sum = number_of(format, code) + number_of(format, code + 1);
      const auto tie = static_cast<float>(sum / 2);
      for (const float value : {tie, std::nextafter(tie, INFINITY), std::nextafter(tie, 0.0F)})
        values.insert(values.end(), {value, -value});
    }
  }
  return values;
}

class SmallFloatWords : public WordsTest {
 protected:
  [[nodiscard]] std::vector<std::string> architectures() const {
    if (name_ == "cuda") return {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"};
    if (name_ == "hip") return {"gfx906", "gfx90a", "gfx1030"};
    return {};
  }

  static void expect_numbers(const SmallFloat& format, const std::vector<float>& got) {
    for (std::uint16_t code = 0; code < 256; ++code) {
      const double wanted = number_of(format, code);
      const bool same = std::isnan(wanted) ? std::isnan(got[code]) : got[code] == wanted;
      EXPECT_TRUE(same) << code << ": " << got[code] << ", expected " << wanted;
      if (wanted == 0) {
        EXPECT_EQ(std::signbit(got[code]), std::signbit(wanted)) << code;
      }
    }
  }

  static void expect_codes(const SmallFloat& format, const std::vector<float>& values,
                           const std::vector<std::uint8_t>& got) {
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(got[i], code_of(format, values[i])) << values[i];
  }
};

TEST_F(SmallFloatWords, CompileForEveryArchitecture) {
  for (const std::string& architecture : architectures()) {
    const DeviceInfo device = device_for_architecture(name_, architecture);
    const auto compiler = backend_->open_compiler(device);
    const Result<Binary> binary = compiler->compile(source_of(kConvert, "convert", device));
    EXPECT_TRUE(binary) << architecture << ": " << binary.failure().message;
  }
}

TEST_F(SmallFloatWords, AgreeWithTheHost) {
  const Result<Binary> binary = compiler_->compile(source_of(kConvert, "convert", info_));
  ASSERT_TRUE(binary) << binary.failure().message;
  if (!device_) return;

  const std::vector<float> values = values_to_convert();
  const Buffer e4m3 = upload(std::vector<std::uint8_t>(values.size()));
  const Buffer e5m2 = upload(std::vector<std::uint8_t>(values.size()));
  const Buffer of_e4m3 = upload(std::vector<float>(256));
  const Buffer of_e5m2 = upload(std::vector<float>(256));
  const Buffer of_i8 = upload(std::vector<std::int32_t>(256));
  const std::array arguments = {
      argument(upload(values)), argument(static_cast<std::int32_t>(values.size())),
      argument(e4m3),           argument(e5m2),
      argument(of_e4m3),        argument(of_e5m2),
      argument(of_i8)};
  run(*binary, "convert", 64, arguments);

  expect_codes(kE4m3, values, download<std::uint8_t>(e4m3, values.size()));
  expect_codes(kE5m2, values, download<std::uint8_t>(e5m2, values.size()));
  expect_numbers(kE4m3, download<float>(of_e4m3, 256));
  expect_numbers(kE5m2, download<float>(of_e5m2, 256));
  const std::vector<std::int32_t> whole = download<std::int32_t>(of_i8, 256);
  for (int code = 0; code < 256; ++code)
    EXPECT_EQ(whole[static_cast<std::size_t>(code)], code - 128);
}

}  // namespace
}  // namespace kiln::test
