// Rules in Python syntax mean what Python means: truth values, whole numbers beyond 64 bits, floor
// division of floats, bits. tests/interchange/python_conditions_test.cpp asks Python itself.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/expression.hpp"

namespace kiln {
namespace {

bool holds(const std::string& text) { return Expression::parse(text).evaluate_bool(Scope()); }
Value python_value_of(const std::string& text) { return Expression::parse(text).evaluate(Scope()); }
Value python_integer(std::int64_t number) { return number; }

TEST(PythonRules, ZeroIsFalseAndEveryOtherNumberTrue) {
  for (const char* text : {"2", "-1", "0.5", "3 and 4", "0 or 7", "not 0", "4 if 2 else 0", "2**70",
                           "bool(3)", "1 and 0.25"}) {
    EXPECT_TRUE(holds(text)) << text;
  }
  for (const char* text : {"0", "0.0", "-0.0", "not 2", "3 and 0", "0 or 0.0", "not 2**70",
                           "6 % 3 and 1", "1 if 0 else 0"}) {
    EXPECT_FALSE(holds(text)) << text;
  }
}

TEST(PythonRules, AndAndOrGiveOneOfTheirOperands) {
  EXPECT_EQ(python_value_of("3 and 4"), python_integer(4));
  EXPECT_EQ(python_value_of("0 and 4"), python_integer(0));
  EXPECT_EQ(python_value_of("0 or 4"), python_integer(4));
  EXPECT_EQ(python_value_of("2 or 4"), python_integer(2));
  EXPECT_TRUE(holds("(0 or 8) * 4 == 32"));
}

TEST(PythonRules, WholeNumbersHave96BitsOnTheWay) {
  for (const char* text : {"100000000000 * 100000000000 >= 1000000",
                           "64 ** 15 > 1",
                           "1 > -2 ** 63",
                           "9223372036854775807 + 1 == 9223372036854775808",
                           "2 ** 64 - 2 ** 64 == 0",
                           "2 ** 64 // 2 ** 60 == 16",
                           "10 ** 22 % 1024 == 0",
                           "-(2 ** 65) // 3 == -12297829382473034411",
                           "-(2 ** 65) % 3 == 1",
                           "1024 ** 9 > 1024 ** 8",
                           "abs(-2 ** 80) == 2 ** 80",
                           "min(2 ** 70, 5) == 5",
                           "max(2 ** 70, 2 ** 71) == 2 ** 71",
                           "2 ** 63 < 1e300",
                           "2 ** 63 == 9223372036854775808.0",
                           "2 ** 53 + 1 != 9007199254740992.0",
                           "(2 ** 64 + 2 ** 12) / 2 ** 64 > 1",
                           "1 << 70 == 2 ** 70",
                           "(1 << 70) >> 66 == 16",
                           "int(1e20) == 10 ** 20",
                           "round_up(2 ** 62 + 1, 2 ** 62) == 2 ** 63",
                           "ceil_div(2 ** 64, 3) == 6148914691236517206",
                           "~(2 ** 64) == -(2 ** 64) - 1"}) {
    EXPECT_TRUE(holds(text)) << text;
  }
  for (const char* text : {"2 ** 95", "-2 ** 96", "10 ** 20 * 10 ** 20 > 1", "1 << 95", "int(1e30)",
                           "2 ** 95 == 1", "round_up(2 ** 94 + 1, 2 ** 94)"}) {
    EXPECT_THROW((void)Expression::parse(text).evaluate(Scope()), EvaluationError) << text;
  }
  EXPECT_EQ(python_value_of("2 ** 64 // 4"), python_integer(std::int64_t{1} << 62));
  EXPECT_EQ(python_value_of("-2 ** 63"), python_integer(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(Expression::parse("10 ** 20").evaluate_number(Scope()), 1e20);
}

TEST(PythonRules, FloorDivisionOfFloatsFloorsTheExactQuotient) {
  EXPECT_EQ(python_value_of("1.0 // 0.1"), Value(9.0));
  EXPECT_EQ(python_value_of("0.7 // 0.1"), Value(6.0));
  EXPECT_EQ(python_value_of("-1.0 // 0.1"), Value(-10.0));
  EXPECT_EQ(python_value_of("7.5 // 2"), Value(3.0));
  EXPECT_EQ(python_value_of("7 // -2.0"), Value(-4.0));
  EXPECT_EQ(python_value_of("6.0 // 3"), Value(2.0));
}

TEST(PythonRules, BitsBindLooserThanSumsAndTighterThanComparisons) {
  EXPECT_TRUE(holds("64 & 64 - 1 == 0"));
  EXPECT_TRUE(holds("(64 & (64 - 1)) == 0"));
  EXPECT_EQ(python_value_of("6 & 3 | 8"), python_integer(10));
  EXPECT_EQ(python_value_of("6 ^ 3 & 1"), python_integer(7));
  EXPECT_EQ(python_value_of("1 << 2 + 1"), python_integer(8));
  EXPECT_EQ(python_value_of("-5 >> 1"), python_integer(-3));
  EXPECT_EQ(python_value_of("~5"), python_integer(-6));
  EXPECT_EQ(python_value_of("(1 < 2) & (3 < 4)"), Value(true));
  EXPECT_EQ(python_value_of("True ^ True"), Value(false));
}

TEST(PythonRules, NumbersAreReadInAllSpellings) {
  EXPECT_EQ(python_value_of("0xFF"), python_integer(255));
  EXPECT_EQ(python_value_of("0b101"), python_integer(5));
  EXPECT_EQ(python_value_of("0o17"), python_integer(15));
  EXPECT_EQ(python_value_of("1_000_000"), python_integer(1'000'000));
  EXPECT_EQ(python_value_of("1_0.5"), Value(10.5));
  EXPECT_TRUE(holds("0xFFFFFFFFFFFFFFFFFF == 2 ** 72 - 1"));
  EXPECT_TRUE(holds("100000000000000000000 == 10 ** 20"));
}

TEST(PythonRules, ConversionsRoundTowardsZero) {
  EXPECT_EQ(python_value_of("int(2.9)"), python_integer(2));
  EXPECT_EQ(python_value_of("int(-2.9)"), python_integer(-2));
  EXPECT_EQ(python_value_of("int(True)"), python_integer(1));
  EXPECT_EQ(python_value_of("float(2)"), Value(2.0));
  EXPECT_EQ(python_value_of("bool(0.0)"), Value(false));
}

TEST(PythonRules, ATextOfAForeignSpaceIsTrueUnlessItIsEmpty) {
  const ForeignNames names = {{"prec", "x"}, {"prec"}};
  const auto holds_for = [&](const std::string& text, const Value& prec) {
    Scope scope;
    scope.set("prec", prec);
    scope.set("x", std::int64_t{3});
    return Expression::parse_foreign(text, names).evaluate_bool(scope);
  };
  for (const char* text :
       {"prec", "prec and x > 1", "not prec or x", "x > 5 or prec", "x > 1 if prec else x > 5"}) {
    EXPECT_TRUE(holds_for(text, std::string("half"))) << text;
  }
  EXPECT_FALSE(holds_for("prec", std::string()));
  EXPECT_FALSE(holds_for("prec", std::int64_t{0}));
  EXPECT_TRUE(holds_for("prec", std::int64_t{2}));
  EXPECT_TRUE(holds_for("prec == 'a' or 'b'", std::string("half"))) << "as in Python";
}

}  // namespace
}  // namespace kiln
