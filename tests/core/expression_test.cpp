// The expression language: what each operator and function computes.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

Scope example_scope() {
  Scope scope;
  scope.set("n", std::int64_t{1000});
  scope.set("tile", std::int64_t{32});
  scope.set("zero", std::int64_t{0});
  scope.set("scale", 0.25);
  scope.set("padded", true);
  scope.set("dtype", std::string("f16"));
  scope.set("device.max_shared_bytes", std::int64_t{49152});
  return scope;
}

Value value_of(const std::string& text) {
  return Expression::parse(text).evaluate(example_scope());
}

Value integer(std::int64_t value) { return value; }

TEST(Expression, BindsOperatorsAsTightlyAsPythonDoes) {
  EXPECT_EQ(value_of("1 + 2 * 3"), integer(7));
  EXPECT_EQ(value_of("(1 + 2) * 3"), integer(9));
  EXPECT_EQ(value_of("10 - 4 - 3"), integer(3));
  EXPECT_EQ(value_of("2 ** 3 ** 2"), integer(512));
  EXPECT_EQ(value_of("-2 ** 2"), integer(-4));
  EXPECT_EQ(value_of("2 ** -1"), Value(0.5));
  EXPECT_EQ(value_of("- - +3"), integer(3));
  EXPECT_EQ(value_of("not 1 == 2"), Value(true));
  EXPECT_EQ(value_of("true or true and false"), Value(true));
  EXPECT_EQ(value_of("1 if false else 2 if false else 3"), integer(3));
}

TEST(Expression, DividesTowardsMinusInfinity) {
  EXPECT_EQ(value_of("7 // 2"), integer(3));
  EXPECT_EQ(value_of("-7 // 2"), integer(-4));
  EXPECT_EQ(value_of("7 // -2"), integer(-4));
  EXPECT_EQ(value_of("-7.5 // 2"), Value(-4.0));
}

TEST(Expression, LeavesARemainderWithTheSignOfTheDivisor) {
  EXPECT_EQ(value_of("7 % 3"), integer(1));
  EXPECT_EQ(value_of("-7 % 3"), integer(2));
  EXPECT_EQ(value_of("7 % -3"), integer(-2));
  EXPECT_EQ(value_of("-7.5 % 2"), Value(0.5));
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), integer(0));
}

TEST(Expression, DividesTrulyWithASlash) {
  EXPECT_EQ(value_of("6 / 3"), Value(2.0));
  EXPECT_EQ(value_of("tile / 64"), Value(0.5));
}

TEST(Expression, KeepsIntegersWhereItCan) {
  EXPECT_EQ(value_of("2 ** 62"), integer(4611686018427387904));
  EXPECT_EQ(value_of("(-2) ** 63"), integer(std::int64_t{-9223372036854775807} - 1));
  EXPECT_EQ(value_of("tile * 2"), integer(64));
  EXPECT_EQ(value_of("tile * scale"), Value(8.0));
  EXPECT_EQ(value_of("1e8 // 3"), integer(33333333));
}

TEST(Expression, CountsBooleansAsZeroAndOne) {
  EXPECT_EQ(value_of("padded + padded"), integer(2));
  EXPECT_EQ(value_of("tile + padded * 4"), integer(36));
  EXPECT_EQ(value_of("padded == 1"), Value(true));
  EXPECT_EQ(value_of("5 if 1 else 6"), integer(5));
}

TEST(Expression, ComparesInChains) {
  EXPECT_EQ(value_of("1 < 2 <= 2 < 3 != 4"), Value(true));
  EXPECT_EQ(value_of("16 <= tile <= 64"), Value(true));
  EXPECT_EQ(value_of("0 < tile < tile"), Value(false));
  EXPECT_EQ(value_of("1 == 1.0"), Value(true));
}

TEST(Expression, FindsStringsUnequalToNumbers) {
  EXPECT_EQ(value_of("dtype == 3"), Value(false));
  EXPECT_EQ(value_of("dtype != 3"), Value(true));
  EXPECT_EQ(value_of("'a' < 'b'"), Value(true));
}

TEST(Expression, LooksIntoLists) {
  EXPECT_EQ(value_of("dtype in ['f16', 'bf16']"), Value(true));
  EXPECT_EQ(value_of("dtype in [f32]"), Value(false));
  EXPECT_EQ(value_of("tile not in [16, tile + 1]"), Value(true));
  EXPECT_EQ(value_of("tile + 1 in [1, 33]"), Value(true));
}

TEST(Expression, KnowsElementTypesByName) {
  EXPECT_EQ(value_of("f32"), Value(std::string("f32")));
  EXPECT_EQ(value_of("dtype == f16"), Value(true));
  EXPECT_EQ(value_of("sizeof(dtype) + sizeof('f64') + sizeof(u8)"), integer(11));
}

TEST(Expression, HasTheFunctionsThatTilingNeeds) {
  EXPECT_EQ(value_of("ceil_div(n, tile)"), integer(32));
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), integer(-3));
  EXPECT_EQ(value_of("ceil_div(7.0, 2)"), Value(4.0));
  EXPECT_EQ(value_of("round_up(n, tile)"), integer(1024));
  EXPECT_EQ(value_of("round_up(1024, tile)"), integer(1024));
  EXPECT_EQ(value_of("log2(1)"), integer(0));
  EXPECT_EQ(value_of("log2(1023)"), integer(9));
  EXPECT_EQ(value_of("log2(1024.0)"), integer(10));
  EXPECT_EQ(value_of("min(3, n, 2)"), integer(2));
  EXPECT_EQ(value_of("max(3, 2.5)"), integer(3)) << "one of the operands, as in Python";
  EXPECT_EQ(value_of("abs(-3)"), integer(3));
  EXPECT_EQ(value_of("abs(-scale)"), Value(0.25));
}

TEST(Expression, TellsPowersOfTwo) {
  for (const char* yes : {"pow2(1)", "pow2(tile)", "pow2(2 ** 62)", "pow2(4.0)"}) {
    EXPECT_EQ(value_of(yes), Value(true)) << yes;
  }
  for (const char* no : {"pow2(0)", "pow2(n)", "pow2(-4)", "pow2(0.5)"}) {
    EXPECT_EQ(value_of(no), Value(false)) << no;
  }
}

TEST(Expression, FindsTheNamesOfAFormula) {
  for (const char* yes :
       {"uses('max(x + bias, 0)', 'bias')", "uses('x', 'x')", "uses('2*c', 'c')"}) {
    EXPECT_EQ(value_of(yes), Value(true)) << yes;
  }
  for (const char* no :
       {"uses('bias_2 + xbias', 'bias')", "uses('', 'x')", "uses('exp(1)', 'x')"}) {
    EXPECT_EQ(value_of(no), Value(false)) << no;
  }
}

TEST(Expression, LooksOnlyAtWhatDecides) {
  EXPECT_EQ(value_of("zero != 0 and n % zero == 0"), Value(false));
  EXPECT_EQ(value_of("zero == 0 or n % zero == 0"), Value(true));
  EXPECT_EQ(value_of("0 if zero == 0 else n // zero"), integer(0));
  EXPECT_EQ(value_of("1 < zero < 1 // zero"), Value(false));
  EXPECT_EQ(value_of("false and 1 // 0 == 1"), Value(false));
  EXPECT_EQ(value_of("tile in [32, n // zero]"), Value(true));
}

TEST(Expression, TakesDottedNamesAsOneName) {
  EXPECT_EQ(value_of("device.max_shared_bytes // 1024"), integer(48));
  EXPECT_THAT(Expression::parse("n * tile + n <= device.max_shared_bytes - sizeof(f32)").names(),
              testing::ElementsAre("n", "tile", "device.max_shared_bytes"));
}

TEST(Expression, LetsAFunctionsNameBeAName) {
  Scope scope;
  scope.set("pow", std::int64_t{3});
  scope.set("min", std::int64_t{4});
  EXPECT_EQ(Expression::parse("pow * min(min, 5)").evaluate(scope), integer(12));
}

TEST(Expression, GivesTheTypeThatIsAskedFor) {
  const Scope scope = example_scope();
  EXPECT_EQ(Expression::parse("n / 8").evaluate_int(scope), 125);
  EXPECT_EQ(Expression::parse("padded").evaluate_int(scope), 1);
  EXPECT_EQ(Expression::parse("tile").evaluate_number(scope), 32.0);
  EXPECT_TRUE(Expression::parse("tile // 32").evaluate_bool(scope));
  EXPECT_EQ(Expression::parse("'a' if padded else 'b'").evaluate_string(scope), "a");
}

TEST(Expression, RemembersItsTextAndPlace) {
  const Expression expression = Expression::parse("n + 1", {"spec.toml", 3, 9});
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested
  const Expression copy = expression;
  EXPECT_EQ(copy.text(), "n + 1");
  EXPECT_EQ(copy.where(), (SourceLocation{"spec.toml", 3, 9}));
  EXPECT_EQ(copy.evaluate_int(example_scope()), 1001);
}

TEST(Expression, MayBeParsedAtItsFirstUse) {
  const Expression late = Expression::defer("n + tile", {"spec.toml", 3, 9});
  EXPECT_EQ(late.text(), "n + tile");
  EXPECT_EQ(late.where(), (SourceLocation{"spec.toml", 3, 9}));
  EXPECT_EQ(late.evaluate_int(example_scope()), 1032);
  EXPECT_THAT(Expression::defer("n + tile").names(), testing::ElementsAre("n", "tile"));
}

TEST(Expression, FindsTheFaultsOfADeferredTextAtEachUse) {
  const Expression late = Expression::defer("n +", {"spec.toml", 3, 9});
  for (int use = 0; use < 2; ++use) {
    EXPECT_THAT(test::error_of<InputError>([&] { return late.names(); }),
                testing::StartsWith("spec.toml:3:12: "));
  }
}

TEST(Expression, IsParsedOnceForAllThreads) {
  const Scope scope = example_scope();
  std::atomic<int> right = 0;
  for (int round = 0; round < 100; ++round) {
    const Expression late = Expression::defer("n // tile + (1 if padded else 0)");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(
          [copy = late, &scope, &right] { right += copy.evaluate_int(scope) == 32; });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(right, 400);
}

TEST(Expression, MayBeAsLongAsItsLimitAllows) {
  std::string sum = "n";
  while (sum.size() + 4 <= 2000) sum += " + 1";
  EXPECT_EQ(value_of(sum), integer(1000 + 499));
  std::string all = "n in [0";
  for (int i = 1; i < 900; ++i) all += "," + std::to_string(i);
  EXPECT_EQ(value_of(all + ",n]"), Value(true));
}

TEST(Expression, HandlesMoreNamesThanUsual) {
  Scope scope;
  std::string sum = "0";
  for (std::int64_t i = 0; i < 100; ++i) {
    scope.set("v" + std::to_string(i), i);
    sum += " + v" + std::to_string(i);
  }
  EXPECT_EQ(Expression::parse(sum).evaluate_int(scope), 4950);
}

}  // namespace
}  // namespace kiln
