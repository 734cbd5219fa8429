// The 8-bit floats are what their definition says: the tables here are built from it, field by
// field, and know nothing of the conversions.
// SPDX-License-Identifier: Apache-2.0
#include "templates/small_floats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "templates/reference.hpp"

namespace kiln::test {
namespace {

/// An 8-bit float as the OCP specification describes it, in tables 1 and 2.
struct Definition {
  std::string name;
  DType dtype;
  SmallFloat format;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinities;
};

Definition e4m3() { return {"e4m3", DType::e4m3, kE4m3, 4, 3, 7, false}; }
Definition e5m2() { return {"e5m2", DType::e5m2, kE5m2, 5, 2, 15, true}; }

double power_of_two(int exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= 2;
  for (; exponent < 0; ++exponent) result /= 2;
  return result;
}

double defined_number(const Definition& definition, int code) {
  const int all_ones = (1 << definition.exponent_bits) - 1;
  const int mantissas = 1 << definition.mantissa_bits;
  const double sign = code >= 128 ? -1 : 1;
  const int exponent = code / mantissas % (all_ones + 1);
  const int mantissa = code % mantissas;
  if (exponent == all_ones && definition.has_infinities) {
    return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  }
  if (exponent == all_ones && mantissa == mantissas - 1) return std::nan("");
  const double fraction = static_cast<double>(mantissa) / mantissas;
  return exponent == 0 ? sign * fraction * power_of_two(1 - definition.bias)
                       : sign * (1 + fraction) * power_of_two(exponent - definition.bias);
}

std::vector<double> table_of(const Definition& definition) {
  std::vector<double> table;
  for (int code = 0; code < 256; ++code) table.push_back(defined_number(definition, code));
  return table;
}

/// The code of the number in the table that is nearest to `value`, the even one of two. Every
/// finite value has one: that is what saturating means.
int nearest_code(const std::vector<double>& table, double value) {
  value = std::clamp(value, -1e6, 1e6);  // the differences below then differ as f64
  const int sign = std::signbit(value) ? 128 : 0;
  int best = sign;
  for (int code = sign; code < sign + 128; ++code) {
    const double number = table[static_cast<std::size_t>(code)];
    if (!std::isfinite(number)) continue;
    const double error = std::fabs(number - value);
    const double least = std::fabs(table[static_cast<std::size_t>(best)] - value);
    if (error < least || (error == least && code % 2 == 0)) best = code;
  }
  return best;
}

class SmallFloats : public testing::TestWithParam<Definition> {};

TEST_P(SmallFloats, EveryCodeIsTheNumberOfItsDefinitionAndBack) {
  const Definition& definition = GetParam();
  const std::vector<double> table = table_of(definition);
  HostArray array(definition.dtype, {256});
  HostArray copy(definition.dtype, {256});
  for (std::size_t code = 0; code < 256; ++code) {
    array.data[code] = static_cast<std::byte>(code);
    const double number = array.get(code);
    copy.set(code, number);
    const auto back = static_cast<int>(copy.data[code]);
    if (std::isnan(table[code])) {
      EXPECT_TRUE(std::isnan(number)) << code;
      EXPECT_EQ(back, 0x7f) << code << ": NaN has one code to convert to";
      continue;
    }
    EXPECT_EQ(number, table[code]) << code;
    EXPECT_EQ(std::signbit(number), code >= 128) << code;
    const int infinite = static_cast<int>(code) - 1;  // becomes the largest number
    EXPECT_EQ(back, std::isinf(number) ? infinite : static_cast<int>(code));
  }
}

TEST_P(SmallFloats, RoundToTheNearestEvenNumberAndSaturate) {
  const Definition& definition = GetParam();
  const std::vector<double> table = table_of(definition);
  std::mt19937_64 random(1);
  const auto check = [&](double value) {
    ASSERT_EQ(code_of(definition.format, value), nearest_code(table, value)) << value;
  };
  for (int i = 0; i < 50000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const double any = std::bit_cast<float>(bits);  // mostly far beyond, or close to zero
    if (std::isfinite(any)) check(any);
    const double near = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
    check(near * power_of_two(static_cast<int>(random() % 40) - 22));
  }
  for (std::size_t code = 0; code < 256; ++code) {  // on, and right beside, every tie
    const double next = table[(code & 0x80) | ((code + 1) & 0x7f)];
    if (!std::isfinite(table[code]) || !std::isfinite(next)) continue;
    const double tie = (table[code] + next) / 2;
    for (const double value : {tie, std::nextafter(tie, HUGE_VAL), std::nextafter(tie, -HUGE_VAL)})
      check(value);
  }
  EXPECT_EQ(code_of(definition.format, std::numeric_limits<double>::max()),
            definition.format.largest);
}

INSTANTIATE_TEST_SUITE_P(Of, SmallFloats, testing::Values(e4m3(), e5m2()),
                         [](const auto& each) { return each.param.name; });

TEST(SmallFloat, EndsWhereTheSpecificationSays) {
  EXPECT_EQ(number_of(kE4m3, kE4m3.largest), 448);
  EXPECT_EQ(number_of(kE4m3, 1), 0x1p-9);
  EXPECT_EQ(number_of(kE5m2, kE5m2.largest), 57344);
  EXPECT_EQ(number_of(kE5m2, 1), 0x1p-16);
  EXPECT_EQ(number_of(kE5m2, 0x7c), HUGE_VAL);
  EXPECT_TRUE(std::isnan(number_of(kE4m3, 0xff)));
  EXPECT_EQ(code_of(kE4m3, -HUGE_VAL), 0xfe);
  EXPECT_EQ(code_of(kE5m2, HUGE_VAL), 0x7b);
  EXPECT_EQ(code_of(kE5m2, -std::nan("")), 0x7f);
}

TEST(SmallFloat, OfSixteenBitsOverflowsToInfinity) {
  EXPECT_EQ(code_of(kF16, 1e9), 0x7c00);
  EXPECT_EQ(code_of(kBf16, -HUGE_VAL), 0xff80);
  EXPECT_EQ(code_of(kF16, -std::nan("")), 0xfe00);
}

}  // namespace
}  // namespace kiln::test
