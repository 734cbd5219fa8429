// Texts with expressions in braces: kernel names and compiler options.
// SPDX-License-Identifier: Apache-2.0
#include "core/text_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

std::string error_of_pattern(const std::string& text) {
  return test::error_of<InputError>([&] { return TextPattern::parse(text, {"spec.toml", 7, 10}); });
}

TEST(TextPattern, FillsEveryHole) {
  Scope scope;
  scope.set("tile", std::int64_t{16});
  scope.set("padded", true);
  const TextPattern pattern = TextPattern::parse("conv<{tile * 2}, {padded}>");
  EXPECT_EQ(pattern.fill(scope), "conv<32, true>");
  EXPECT_EQ(pattern.head(), "conv<");
  EXPECT_EQ(pattern.text(), "conv<{tile * 2}, {padded}>");
  ASSERT_EQ(pattern.holes().size(), 2U);
  EXPECT_EQ(pattern.fill(scope, [](const Value&) { return std::string("x"); }), "conv<x, x>");
}

TEST(TextPattern, TakesDoubledBracesAndBracesInQuotes) {
  EXPECT_EQ(TextPattern::parse("a{{b}}").fill({}), "a{b}");
  EXPECT_FALSE(TextPattern::parse("a{{b}}").has_holes());
  EXPECT_EQ(TextPattern::parse("{'}' if true else '{'}").fill({}), "}");
}

TEST(TextPattern, SaysWhereABraceOrAnExpressionIsWrong) {
  EXPECT_EQ(error_of_pattern("ab{tile"),
            "spec.toml:7:12: the '{' here has no '}' (write '{{' for a brace of the text)");
  EXPECT_EQ(error_of_pattern("a}b"),
            "spec.toml:7:11: '}' without a '{' before it (write '}}' for a brace of the text)");
  EXPECT_THAT(error_of_pattern("a{1 +}"), testing::StartsWith("spec.toml:7:15: "));
  EXPECT_THAT(error_of_pattern("a{}"), testing::StartsWith("spec.toml:7:12: "));
}

}  // namespace
}  // namespace kiln
