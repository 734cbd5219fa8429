// Evaluation on partly assigned configs: what search prunes with must hold for every completion.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/expression.hpp"

namespace kiln {
namespace {

using Known = std::map<std::string, Value>;

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
