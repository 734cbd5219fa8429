// Expressions that are not all known, and formulas.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/expression.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using Known = std::map<std::string, Value>;

// Formulas: the expression language for kernel code, evaluated and written as C.

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

// Evaluation on partly assigned configs: what search prunes with must hold for every completion.

/// Names that are not in `known` are not assigned yet.
std::optional<Value> partial(const Expression& expression, const Known& known) {
  std::vector<const Value*> slots;
  for (const std::string& name : expression.names()) {
    const auto found = known.find(name);
    slots.push_back(found == known.end() ? nullptr : &found->second);
  }
  return expression.evaluate(slots);
}

std::optional<Value> partial(const std::string& text, const Known& known = {}) {
  return partial(Expression::parse(text), known);
}

const std::optional<Value> kTrue = Value(true);
const std::optional<Value> kFalse = Value(false);
const std::optional<Value> kUnknown = std::nullopt;

TEST(PartialEvaluation, FollowsThreeValuedLogic) {
  EXPECT_EQ(partial("false and u"), kFalse);
  EXPECT_EQ(partial("u and false"), kFalse);
  EXPECT_EQ(partial("true and u"), kUnknown);
  EXPECT_EQ(partial("u and true"), kUnknown);
  EXPECT_EQ(partial("true or u"), kTrue);
  EXPECT_EQ(partial("u or true"), kTrue);
  EXPECT_EQ(partial("false or u"), kUnknown);
  EXPECT_EQ(partial("u or false"), kUnknown);
  EXPECT_EQ(partial("not u"), kUnknown);
  EXPECT_EQ(partial("u and v and false and w"), kFalse);
  EXPECT_EQ(partial("u or v or false"), kUnknown);
}

TEST(PartialEvaluation, IsUnknownThroughArithmetic) {
  EXPECT_EQ(partial("u * 4 <= 100"), kUnknown);
  EXPECT_EQ(partial("min(u, 3) + 1"), kUnknown);
  EXPECT_EQ(partial("sizeof(u)"), kUnknown);
  EXPECT_EQ(partial("a * 4 <= 100", {{"a", std::int64_t{25}}}), kTrue);
}

TEST(PartialEvaluation, DecidesChainsAndListsAsSoonAsItCan) {
  EXPECT_EQ(partial("3 < 2 < u"), kFalse);
  EXPECT_EQ(partial("u < 3 < 2"), kFalse);
  EXPECT_EQ(partial("1 < 2 < u"), kUnknown);
  EXPECT_EQ(partial("1 in [u, 1]"), kTrue);
  EXPECT_EQ(partial("1 in [u, 2]"), kUnknown);
  EXPECT_EQ(partial("1 not in [2, 3]"), kTrue);
}

TEST(PartialEvaluation, LooksOnlyAtTheChosenBranch) {
  EXPECT_EQ(partial("1 if true else u"), Value(std::int64_t{1}));
  EXPECT_EQ(partial("u if false else 2"), Value(std::int64_t{2}));
  EXPECT_EQ(partial("1 if u else 1"), kUnknown);
  EXPECT_EQ(partial("(1 if u else 2) == 3 and false"), kFalse);
}

TEST(PartialEvaluation, TakesAnUnknownGuardForAGuard) {
  const Known known = {{"n", std::int64_t{8}}, {"t", std::int64_t{0}}};
  EXPECT_EQ(partial("u and n % t == 0", known), kUnknown);
  EXPECT_EQ(partial("u or n % t == 0", known), kUnknown);
  EXPECT_EQ(partial("u and (v or n % t == 0)", known), kUnknown);
  EXPECT_EQ(partial("(u and n // t > 1) or true", known), kTrue);
  EXPECT_EQ(partial("u < 3 < n // t", known), kUnknown);
}

TEST(PartialEvaluation, ReportsFaultsThatNothingGuards) {
  const Known known = {{"n", std::int64_t{8}}, {"t", std::int64_t{0}}};
  EXPECT_THROW(partial("n % t == 0 and u", known), EvaluationError);
  EXPECT_THROW(partial("true and n % t == 0", known), EvaluationError);
  EXPECT_THROW(partial("(u and true) == (n // t)", known), EvaluationError);
}

TEST(PartialEvaluation, ReturnsStringsByValue) {
  std::optional<Value> result;
  {
    const Known known = {{"dtype", std::string("a type name too long to be stored in place")}};
    result = partial("dtype if true else u", known);
  }
  EXPECT_EQ(result, Value(std::string("a type name too long to be stored in place")));
}

/// Random expressions over a, b, c, from a seed.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string condition(int depth) {
    if (depth == 0) return pick({"a", "b", "c"}) + pick({" < ", " == ", " >= "}) + number(0);
    switch (random_() % 6) {
      case 0:
        return "(" + condition(depth - 1) + " and " + condition(depth - 1) + ")";
      case 1:
        return "(" + condition(depth - 1) + " or " + condition(depth - 1) + ")";
      case 2:
        return "(not " + condition(depth - 1) + ")";
      case 3:
        return number(depth - 1) + " in [" + number(depth - 1) + ", " + number(0) + "]";
      case 4:
        return number(depth - 1) + " <= " + number(depth - 1) + " < " + number(depth - 1);
      default:
        return "(" + condition(depth - 1) + " if " + condition(depth - 1) + " else " +
               condition(depth - 1) + ")";
    }
  }

 private:
  std::string number(int depth) {
    if (depth == 0) return pick({"a", "b", "c", "0", "1", "2", "3"});
    switch (random_() % 3) {
      case 0:
        return "(" + number(depth - 1) + pick({" + ", " * ", " // ", " % "}) + number(depth - 1) +
               ")";
      case 1:
        return pick({"min(", "max(", "ceil_div("}) + number(depth - 1) + ", " + number(0) + ")";
      default:
        return "(" + number(depth - 1) + " if " + condition(depth - 1) + " else " + number(0) + ")";
    }
  }

  std::string pick(const std::vector<std::string>& choices) {
    return choices[random_() % choices.size()];
  }

  std::mt19937 random_;
};

/// nullopt where the evaluation fails.
std::optional<Value> complete(const Expression& expression, const Known& known) {
  try {
    return partial(expression, known);
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

constexpr std::array<const char*, 3> kNames = {"a", "b", "c"};

/// Bits of `mask` say which of a, b, c are taken from `all`.
Known subset(const Known& all, unsigned mask) {
  Known known;
  for (unsigned i = 0; i < kNames.size(); ++i) {
    if ((mask >> i & 1U) != 0) known.emplace(kNames.at(i), all.at(kNames.at(i)));
  }
  return known;
}

TEST(PartialEvaluation, NeverContradictsACompletion) {
  Generator generator(1);
  int decided = 0;
  for (int round = 0; round < 300; ++round) {
    const Expression expression = Expression::parse(generator.condition(3));
    for (std::int64_t point = 0; point < 64; ++point) {
      const Known all = {{"a", point % 4}, {"b", point / 4 % 4}, {"c", point / 16}};
      const std::optional<Value> truth = complete(expression, all);
      for (unsigned mask = 0; mask < 7 && truth; ++mask) {
        // A completion that is fine cannot have failed with less known, nor come out otherwise.
        const std::optional<Value> early = partial(expression, subset(all, mask));
        if (!early) continue;
        EXPECT_EQ(early, truth) << expression.text();
        ++decided;
      }
    }
  }
  EXPECT_GT(decided, 1000);
}

}  // namespace
}  // namespace kiln
