// Values as text: what configs, problems and the database are written in.
// SPDX-License-Identifier: Apache-2.0
#include "core/value.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Value, HasOneCanonicalText) {
  EXPECT_EQ(to_text(true), "true");
  EXPECT_EQ(to_text(std::int64_t{-42}), "-42");
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(std::string("bf16")), "bf16");
}

TEST(Value, WritesWholeFloatsSoThatTheyStayFloats) {
  EXPECT_EQ(to_text(1.0), "1.0");
  EXPECT_EQ(to_text(1e8), "100000000.0");
  EXPECT_EQ(to_text(1e300), "1e+300");
  EXPECT_EQ(to_text(1.5e-7), "1.5e-07");
}

TEST(Value, GivesEqualFloatsEqualText) { EXPECT_EQ(to_text(-0.0), to_text(0.0)); }

TEST(Value, ReadsTheNarrowestType) {
  EXPECT_EQ(parse_value("true"), Value(true));
  EXPECT_EQ(parse_value("false"), Value(false));
  EXPECT_EQ(parse_value("512"), Value(std::int64_t{512}));
  EXPECT_EQ(parse_value("-3"), Value(std::int64_t{-3}));
  EXPECT_EQ(parse_value("0.5"), Value(0.5));
  EXPECT_EQ(parse_value(".5"), Value(0.5));
  EXPECT_EQ(parse_value("2.0"), Value(2.0));
  EXPECT_EQ(parse_value("f32"), Value(std::string("f32")));
}

TEST(Value, ReadsSizesWrittenWithAnExponentAsIntegers) {
  EXPECT_EQ(parse_value("1e8"), Value(std::int64_t{100000000}));
  EXPECT_EQ(parse_value("1.5E3"), Value(std::int64_t{1500}));
  EXPECT_EQ(parse_value("1e-3"), Value(0.001));
  EXPECT_EQ(parse_value("1e30"), Value(1e30));
}

TEST(Value, LeavesWordsAndBrokenNumbersAsStrings) {
  for (const char* text : {"", "-", "inf", "nan", "-inf", "1.2.3", "12abc", "0x10", "True", "."}) {
    EXPECT_EQ(parse_value(text), Value(std::string(text))) << text;
  }
}

TEST(Value, ComesBackFromItsText) {
  const Value values[] = {
      true,
      false,
      std::numeric_limits<std::int64_t>::min(),
      std::numeric_limits<std::int64_t>::max(),
      1.0,
      1e8,
      9.2e18,
      0.1,
      -1.0 / 3.0,
      std::numeric_limits<double>::max(),
      std::numeric_limits<double>::denorm_min(),
      std::string("two words"),
  };
  for (const Value& value : values) EXPECT_EQ(parse_value(to_text(value)), value) << to_text(value);
}

TEST(Value, IsTheSameInEachSpelling) {
  const auto same = [](const Value& a, const Value& b) {
    return is_same_value(a, b) && is_same_value(b, a);
  };
  EXPECT_TRUE(same(std::int64_t{64}, 64.0));
  EXPECT_TRUE(same(std::int64_t{1}, true));
  EXPECT_TRUE(same(0.0, false));
  EXPECT_TRUE(same(std::string("True"), true));
  EXPECT_TRUE(same(std::string("false"), std::int64_t{0}));
  EXPECT_TRUE(same(std::string("64"), std::int64_t{64}));
  EXPECT_TRUE(same(std::string("64.0"), std::int64_t{64}));
  EXPECT_TRUE(same(std::string("f32"), std::string("f32")));
  EXPECT_FALSE(same(std::int64_t{64}, 64.5));
  EXPECT_FALSE(same(std::int64_t{2}, true));
  EXPECT_FALSE(same(std::string("True"), std::string("yes")));
  EXPECT_FALSE(same(std::numeric_limits<std::int64_t>::max(), 9223372036854775808.0));
}

TEST(Value, NamesItsTypeForMessages) {
  EXPECT_EQ(type_name(true), "boolean");
  EXPECT_EQ(type_name(std::int64_t{1}), "integer");
  EXPECT_EQ(type_name(1.0), "float");
  EXPECT_EQ(type_name(std::string("1")), "string");
}

TEST(Value, IsANumberUnlessItIsAString) {
  EXPECT_EQ(as_double(true), 1.0);
  EXPECT_EQ(as_double(std::int64_t{7}), 7.0);
  EXPECT_EQ(as_double(2.5), 2.5);
  EXPECT_THROW(static_cast<void>(as_double(std::string("2.5"))), std::logic_error);
}

}  // namespace
}  // namespace kiln
