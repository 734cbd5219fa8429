// Formulas: the expression language for kernel code, evaluated and written as C.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/expression.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

Expression formula(const std::string& text) {
  static const std::vector<std::string> kVariables = {"x", "i", "n"};
  return Expression::parse_formula(text, kVariables, {"spec.toml", 7, 5});
}

double number_of(const std::string& text) {
  Scope scope;
  scope.set("x", 0.7);
  scope.set("i", std::int64_t{3});
  scope.set("n", std::int64_t{8});
  return formula(text).evaluate_number(scope);
}

std::string c_of(const std::string& text) { return formula(text).to_c("float"); }

std::string error_of_formula(const std::string& text) {
  return test::error_of<InputError>([&] { return formula(text); }, "parsed");
}

// Each level twice would be 2^60 steps.
TEST(Formula, OfNestedChoicesTakesNoLonger) {
  std::string nested = "x";
  for (int i = 0; i < 60; ++i) nested = "(" + nested + " if x else n)";
  EXPECT_EQ(number_of(nested), 0.7);
  EXPECT_EQ(c_of("(x if x else n) if x else n"), c_of("((x if x else n)) if x else n"));
}

TEST(Formula, ComputesInRealNumbers) {
  EXPECT_DOUBLE_EQ(number_of("sin(2*x)**2*cos(x)**2"),
                   std::pow(std::sin(1.4), 2) * std::pow(std::cos(0.7), 2));
  EXPECT_DOUBLE_EQ(number_of("(i + 0.5) * pi / n"), 3.5 * 3.141592653589793 / 8);
  EXPECT_DOUBLE_EQ(number_of("i / n"), 0.375);
  EXPECT_DOUBLE_EQ(number_of("n // i + n % i"), 4.0);
  EXPECT_DOUBLE_EQ(number_of("pow(x, 2) + sqrt(x) + floor(-x)"), 0.49 + std::sqrt(0.7) - 1.0);
  EXPECT_DOUBLE_EQ(number_of("exp(x) * log(x) * tan(x)"),
                   std::exp(0.7) * std::log(0.7) * std::tan(0.7));
  EXPECT_DOUBLE_EQ(number_of("tanh(x) * erf(-x)"), std::tanh(0.7) * std::erf(-0.7));
  EXPECT_DOUBLE_EQ(number_of("abs(-x) + min(x, 1, 2) + max(x, 1)"), 0.7 + 0.7 + 1.0);
  EXPECT_DOUBLE_EQ(number_of("1 if x > 0.5 and not i in [1, 2] else 2"), 1.0);
}

TEST(Formula, OverflowsAndDividesLikeTheKernelItBecomes) {
  EXPECT_EQ(number_of("1 / (n - 8)"), INFINITY);
  EXPECT_DOUBLE_EQ(number_of("n ** 40"), std::pow(8.0, 40));
  EXPECT_TRUE(std::isnan(number_of("sqrt(-x)")));
}

TEST(Formula, NamesOnlyTheVariablesThatItUses) {
  EXPECT_THAT(formula("x * pi + x / n").names(), testing::ElementsAre("x", "n"));
}

TEST(Formula, IsWrittenAsC) {
  EXPECT_EQ(c_of("x"), "(x)");
  EXPECT_EQ(c_of("x * 2 + 1"), "(((x) * 2.0f) + 1.0f)");
  EXPECT_EQ(c_of("-x / 3"), "((-(x)) / 3.0f)");
  EXPECT_EQ(c_of("sin(2 * x)"), "sin(2.0f * (x))");
  EXPECT_EQ(c_of("cos(x) * exp((x + 1) * (x - 1))"), "(cos(x) * exp(((x) + 1.0f) * ((x) - 1.0f)))");
  EXPECT_EQ(c_of("min(x, 1, i)"), "fmin(fmin(x, 1.0f), i)");
  EXPECT_EQ(c_of("max(x, 0) + abs(x)"), "(fmax(x, 0.0f) + fabs(x))");
  EXPECT_EQ(c_of("x // 2"), "floor((x) / 2.0f)");
  EXPECT_EQ(c_of("x % 2"), "((x) - 2.0f * floor((x) / 2.0f))");
  EXPECT_EQ(c_of("ceil_div(i, 2) + round_up(i, 4)"),
            "(ceil((i) / 2.0f) + (ceil((i) / 4.0f) * 4.0f))");
}

TEST(Formula, GivesLiteralsTheTypeAskedFor) {
  const Expression expression = formula("pi * 0.1 + 1e8 * 1e-7");
  EXPECT_EQ(expression.to_c("float"), "((3.1415927f * 0.1f) + (1e+08f * 1e-07f))");
  EXPECT_EQ(expression.to_c("double"), "((3.141592653589793 * 0.1) + (1e+08 * 1e-07))");
}

TEST(Formula, UnrollsSmallPowers) {
  EXPECT_EQ(c_of("x ** 2"), "((x) * (x))");
  EXPECT_EQ(c_of("sin(x) ** 3"), "(sin(x) * sin(x) * sin(x))");
  EXPECT_EQ(c_of("x ** 1"), "(x)");
  EXPECT_EQ(c_of("x ** 0"), "1.0f");
  EXPECT_EQ(c_of("x ** -2"), "(1.0f / ((x) * (x)))");
  EXPECT_EQ(c_of("x ** 9"), "pow(x, 9.0f)");
  EXPECT_EQ(c_of("x ** 0.5"), "pow(x, 0.5f)");
  EXPECT_EQ(c_of("2 ** x"), "pow(2.0f, x)");
}

TEST(Formula, WritesConditionsAsC) {
  EXPECT_EQ(c_of("1 if x > 0 and i != 3 else -1"),
            "((((x) > 0.0f) && ((i) != 3.0f)) ? 1.0f : (-1.0f))");
  EXPECT_EQ(c_of("(x > 0.5) * 2"), "((((x) > 0.5f) ? 1.0f : 0.0f) * 2.0f)");
  EXPECT_EQ(c_of("0 < x < 1 or not x"),
            "((((0.0f < (x)) && ((x) < 1.0f)) || (!((x) != 0.0f))) ? 1.0f : 0.0f)");
  EXPECT_EQ(c_of("2 if i in [0, 1] else true"),
            "((((i) == 0.0f) || ((i) == 1.0f)) ? 2.0f : ((1 == 1) ? 1.0f : 0.0f))");
}

TEST(Formula, RefusesOtherNames) {
  EXPECT_EQ(error_of_formula("x + y"),
            "spec.toml:7:9: 'y' is not a variable of this formula; expected one of x, i, n, pi");
  EXPECT_EQ(error_of_formula("f32"),
            "spec.toml:7:5: 'f32' is not a variable of this formula; expected one of x, i, n, pi");
  EXPECT_THROW(static_cast<void>(Expression::parse_formula("x", {})), InputError);
}

TEST(Formula, RefusesWhatKernelCodeHasNot) {
  EXPECT_EQ(error_of_formula("x == 'a'"), "spec.toml:7:10: a formula has no strings");
  EXPECT_EQ(error_of_formula("log2(x)"),
            "spec.toml:7:5: 'log2' cannot be called in a formula; the functions are min, max, abs, "
            "ceil_div, round_up, sin, cos, tan, exp, log, sqrt, tanh, erf, floor, "
            "pow");
}

TEST(Formula, RefusesWhatWouldGrowWithoutBound) {
  std::string nested = "x";
  for (int i = 0; i < 30; ++i) nested = "(1 % " + nested + ")";
  EXPECT_EQ(
      error_of_formula(nested).find("the formula is too long as C source") != std::string::npos,
      true);
}

}  // namespace
}  // namespace kiln
