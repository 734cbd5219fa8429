// Spaces that other tools describe: T1 files and lists of spaces, and what is wrong in them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interchange/described_space.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;

constexpr const char* kT1 = R"json({
  "General": {"BenchmarkName": "stencil"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block", "Type": "int", "Values": "[2**i for i in range(5, 8)]", "Default": 64},
      {"Name": "tile", "Type": "int", "Values": "[1, 2] + list(range(4, 8+1, 4))", "Default": [4]},
      {"Name": "order", "Type": "string", "Values": ["row", "column"]}
    ],
    "Conditions": [
      {"Expression": "block / tile >= 16", "Parameters": ["block", "tile"]},
      {"Expression": "order != 'column' or tile in (1, 2)", "Parameters": ["order", "tile"]}
    ]
  }
})json";

constexpr const char* kList = R"json({"about": "two",
"spaces": [
  {"name": "one", "parameters": {"x": [1, 2, 4], "y": [0.5, 1.5], "z": [true, false]},
   "constraints": ["x * y <= 4 and not (z == True and x == 1)"],
   "cartesian_size": 12, "valid_size": 10},
  {"name": "two", "parameters": {"x": [1]}}
]})json";

std::string space_with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of_space(const std::string& text) {
  return test::error_of<InputError>([&] { return read_described_spaces(text, "space.json"); });
}

std::vector<std::int64_t> numbers(const Tunable& tunable) {
  std::vector<std::int64_t> all;
  for (const Value& value : tunable.values) all.push_back(std::get<std::int64_t>(value));
  return all;
}

TEST(DescribedSpaces, ReadsAT1File) {
  const auto spaces = read_described_spaces(kT1, "space.json");
  ASSERT_EQ(spaces.size(), 1u);
  const Variant& variant = spaces.front().variant;
  EXPECT_EQ(spaces.front().name, "stencil");
  ASSERT_EQ(variant.tunables.size(), 3u);
  EXPECT_THAT(numbers(variant.tunables[0]), ElementsAre(32, 64, 128));
  EXPECT_THAT(numbers(variant.tunables[1]), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(variant.tunables[2].values, ElementsAre(Value("row"), Value("column")));
  EXPECT_EQ(variant.tunables[0].fallback, Value(std::int64_t{64}));
  EXPECT_EQ(variant.tunables[1].fallback, Value(std::int64_t{4}));
  ASSERT_EQ(variant.constraints.size(), 2u);
  EXPECT_EQ(variant.constraints[1].require.where(), (SourceLocation{"space.json", 11, 23}));
}

// Each level twice would be 2^60 instructions.
TEST(DescribedSpaces, NestedChoicesOfTextsTakeNoLonger) {
  std::string nested = "order";
  for (int i = 0; i < 60; ++i) nested = "(" + nested + " if order else '')";
  const std::string text = space_with(kT1, "order != 'column' or tile in (1, 2)", nested);
  const Variant variant = read_described_spaces(text, "space.json").front().variant;
  Scope scope;
  for (const auto& [order, is_some] : {std::pair("row", true), std::pair("", false)}) {
    scope.set("order", std::string(order));
    EXPECT_EQ(variant.constraints[1].require.evaluate_bool(scope), is_some) << order;
  }
}

TEST(DescribedSpaces, ReadsAListOfSpaces) {
  const auto spaces = read_described_spaces(kList, "space.json");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].name, "one");
  EXPECT_EQ(spaces[0].combinations, 12u);
  EXPECT_EQ(spaces[0].configs, 10u);
  EXPECT_THAT(spaces[0].variant.tunables[1].values, ElementsAre(Value(0.5), Value(1.5)));
  EXPECT_TRUE(spaces[1].variant.constraints.empty());
  EXPECT_EQ(spaces[1].configs, std::nullopt);
}

TEST(DescribedSpaces, AConstraintThatCannotBeReadIsNamedByItsPlace) {
  EXPECT_EQ(error_of_space(space_with(kT1, "block / tile >= 16", "block && 15 == 0")),
            "space.json:10:29: unexpected '&&'; write 'and'");
  EXPECT_EQ(error_of_space(space_with(kT1, "block / tile >= 16", "math.ceil(block / 3) > 4")),
            "space.json:10:23: unknown function 'math.ceil'; the functions are min, max, abs, "
            "ceil_div, round_up, pow2, log2, sizeof, int, float, bool, uses");
  EXPECT_EQ(error_of_space(space_with(kT1, "block / tile >= 16", "blocks / tile >= 16")),
            "space.json:10:23: 'blocks' in 'blocks / tile >= 16' is no tunable of this space; did "
            "you mean 'block'? (it has: block, tile, order)");
  EXPECT_EQ(error_of_space(space_with(kT1, "block / tile >= 16", "lambda p: p")),
            "space.json:10:30: expected an operator or the end of the expression, found 'p'");
}

TEST(DescribedSpaces, AListOfValuesThatCannotBeReadIsNamedByItsPlace) {
  const std::string list = "[1, 2] + list(range(4, 8+1, 4))";
  const auto error = [&](const std::string& other) {
    return error_of_space(space_with(kT1, list, other));
  };
  EXPECT_EQ(error("[i for i in range(9) if i % 2]"), "space.json:6:71: expected ']', found 'if'");
  EXPECT_EQ(error("__import__('os').system('x')"),
            "space.json:6:50: expected [values], [expression for name in range(...)], "
            "list(range(...)) or a sum of those, found '__import__'");
  EXPECT_EQ(error("[1, 2"), "space.json:6:55: expected ']', found the end of the expression");
  EXPECT_EQ(error("range(1, 9, 0)"), "space.json:6:50: the step of a range cannot be 0");
  EXPECT_EQ(error("range(10**9)"), "space.json:6:50: more than 65534 values");
  EXPECT_EQ(error("[2**i for i in range(70)]"),
            "space.json:6:52: 9223372036854775808 does not fit into 64 bits, in '2**i'");
  EXPECT_EQ(error("[]"), "space.json:6:17: tile has 0 values; expected 1 to 65534");
  EXPECT_EQ(error("[1, 2, 1]"), "space.json:6:17: tile has the value 1 twice");
}

TEST(DescribedSpaces, AParameterMayHaveTheNameOfAWordOfTheLanguage) {
  for (const char* name : {"f32", "u8", "true", "True", "min", "pi"}) {
    const auto spaces = read_described_spaces(
        fmt::format(R"({{"spaces": [{{"name": "a", "parameters": {{"{0}": [1, 2, 4]}}, )"
                    R"("constraints": ["{0} > 1"]}}]}})",
                    name),
        "space.json");
    const Expression& rule = spaces.front().variant.constraints.front().require;
    EXPECT_THAT(rule.names(), ElementsAre(name));
    Scope scope;
    scope.set(name, std::int64_t{1});
    EXPECT_FALSE(rule.evaluate_bool(scope)) << name;
    scope.set(name, std::int64_t{4});
    EXPECT_TRUE(rule.evaluate_bool(scope)) << name;
  }
}

TEST(DescribedSpaces, AParameterNamedTwiceIsRefusedAtItsPlace) {
  EXPECT_EQ(error_of_space(
                "{\"spaces\": [{\"name\": \"a\", \"parameters\": {\n\"x\": [1],\n\"x\": [2]}}]}"),
            "space.json:3:1: the key \"x\" is here a second time");
  EXPECT_EQ(error_of_space(space_with(kT1, "\"Name\": \"tile\"", "\"Name\": \"block\"")),
            "space.json:6:17: the parameter block is here a second time; the first is in line 5");
}

TEST(DescribedSpaces, OneValueInTwoSpellingsIsRefused) {
  EXPECT_EQ(error_of_space(space_with(kList, "[1, 2, 4]", "[1, 2, 1.0]")),
            "space.json:3:35: x has the value 1.0 twice");
  EXPECT_EQ(error_of_space(space_with(kList, "[1, 2, 4]", "[true, 1]")),
            "space.json:3:35: x has the value 1 twice");
  EXPECT_EQ(error_of_space(space_with(kList, "[1, 2, 4]", "[9223372036854775808]")),
            "space.json:3:35: expected the values of x to be numbers, texts or booleans, not "
            "9223372036854775808");
}

TEST(DescribedSpaces, WhatIsMissingIsNamed) {
  EXPECT_EQ(
      error_of_space("{\"spaces\": [{\"name\": \"a\"}]}"),
      "space.json:1:23: expected each of \"spaces\" to have a \"name\" and \"parameters\", an "
      "object of lists of values");
  EXPECT_EQ(error_of_space("{\"spaces\": []}"),
            "space.json: expected \"spaces\" to be a list of at least one space");
  EXPECT_EQ(
      error_of_space("{\"a\": 1}"),
      "space.json: expected a T1 file (with \"ConfigurationSpace\") or a list of spaces (with "
      "\"spaces\")");
  EXPECT_EQ(error_of_space("{\"spaces\": [\n  {\"name\": }]}"),
            "space.json:2:12: unexpected '}'; expected '[', '{', or a literal");
  EXPECT_EQ(
      error_of_space(space_with(kT1, "\"Name\": \"tile\", ", "")),
      "space.json: expected each of \"TuningParameters\" to have a \"Name\" and \"Values\", a "
      "list or the text of one");
  EXPECT_EQ(
      error_of_space(space_with(kList, "[1, 2, 4]", "[1, [2], 4]")),
      "space.json:3:35: expected the values of x to be numbers, texts or booleans, not an array");
  EXPECT_EQ(error_of_space(space_with(kList, "\"valid_size\": 10", "\"valid_size\": -1")),
            "space.json:3:13: expected \"valid_size\" to be a whole number, not -1");
}

}  // namespace
}  // namespace kiln
