// The functions and operators of templates, as a template author meets them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

std::string value_of(const std::string& expression, const std::string& problem = "n=1000") {
  std::string text = body_of("{{ " + expression + " }}\n", "strided", problem);
  return text.substr(0, text.find('\n'));
}

std::string fault_of(const std::string& expression) {
  std::string message = error_of("{{ " + expression + " }}");
  return message.substr(message.find(": ") + 2);
}

TEST(TemplateFunctions, TypesOfTheDialect) {
  EXPECT_EQ(value_of("ctype(dtype) + \" \" + real(dtype)", "n=1 dtype=f16"), "f16_t f32");
  EXPECT_EQ(value_of("ctype(\"bf16\") + real(\"u8\") + ctype(\"f64\")"), "bf16_tu32f64");
  EXPECT_EQ(value_of("ctype(\"i8\") + real(\"i8\")"), "i8i32");
  EXPECT_EQ(value_of("ctype(\"e4m3\") + real(\"e5m2\")"), "e4m3_tf32");
  EXPECT_EQ(value_of("bytes(\"e5m2\")"), "1");
  EXPECT_EQ(value_of("bytes(dtype) + bytes(\"f64\")", "n=1 dtype=f16"), "10");
  EXPECT_EQ(fault_of("ctype(\"half\")"),
            "expected an element type (f32, u8, ...), got the string 'half'");
}

TEST(TemplateFunctions, ConversionsOfStoredElements) {
  EXPECT_EQ(value_of("load(\"f16\", \"x[i]\")"), "F16_TO_F32(x[i])");
  EXPECT_EQ(value_of("store(\"bf16\", \"sum\")"), "F32_TO_BF16(sum)");
  EXPECT_EQ(value_of("load(\"u8\", \"x[i]\")"), "(u32)(x[i])");
  EXPECT_EQ(value_of("store(\"f32\", \"a + b\")"), "a + b");
  EXPECT_EQ(value_of("load(\"i8\", \"x[i]\")"), "(i32)(x[i])");
  EXPECT_EQ(value_of("store(\"i8\", \"sum\")"), "(i8)(sum)");
  EXPECT_EQ(value_of("load(\"e4m3\", \"x[i]\")"), "E4M3_TO_F32(x[i])");
  EXPECT_EQ(value_of("store(\"e5m2\", \"sum\")"), "F32_TO_E5M2(sum)");
}

TEST(TemplateFunctions, LiteralsOfTheArithmeticType) {
  EXPECT_EQ(value_of("literal(1, \"f16\")"), "1.0f");
  EXPECT_EQ(value_of("literal(0.1, \"f32\")"), "0.1f");
  EXPECT_EQ(value_of("literal(0.1, \"f64\")"), "0.1");
  EXPECT_EQ(value_of("literal(1e20, \"f64\")"), "1e+20");
  EXPECT_EQ(value_of("literal(3, \"u8\")"), "3u");
  EXPECT_EQ(value_of("literal(0 - 3, \"i8\")"), "-3");
  EXPECT_EQ(value_of("literal(1, \"e4m3\")"), "1.0f");
  EXPECT_EQ(value_of("literal(3, \"i64\")"), "(i64)3");
  EXPECT_EQ(value_of("literal(\"inf\", \"f16\")"), "F32_INFINITY");
  EXPECT_EQ(value_of("literal(\"-inf\", \"i32\")"), "(-2147483647 - 1)");
  EXPECT_EQ(value_of("literal(\"inf\", \"u64\")"), "(u64)18446744073709551615u");
  EXPECT_EQ(fault_of("literal(0 - 1, \"u8\")"), "-1 does not fit into u32");
  EXPECT_EQ(fault_of("literal(0.5, \"i32\")"),
            "0.5 is no whole number, and the literal is of type i32");
}

TEST(TemplateFunctions, WholeNumbersFloorLikeExpressions) {
  EXPECT_EQ(value_of("div(7, 2)"), "3");
  EXPECT_EQ(value_of("div(0 - 7, 2)"), "-4");
  EXPECT_EQ(value_of("mod(0 - 7, 2)"), "1");
  EXPECT_EQ(value_of("(0 - 7) % 4"), "1");
  EXPECT_EQ(value_of("ceil_div(7, 2)"), "4");
  EXPECT_EQ(value_of("round_up(7, 4)"), "8");
  EXPECT_EQ(value_of("log2(1023)"), "9");
  EXPECT_EQ(value_of("pow2(64)"), "1");
  EXPECT_EQ(value_of("pow2(65)"), "0");
  EXPECT_EQ(value_of("min(3, 4) + max(3, 4) * 2 ^ 3"), "35");
}

TEST(TemplateFunctions, ArithmeticFaultsAreErrorsNotCrashes) {
  EXPECT_EQ(fault_of("tile % (unroll - 2)"), "division by zero");
  EXPECT_EQ(fault_of("div(tile, 0)"), "division by zero");
  EXPECT_EQ(fault_of("9223372036854775807 + 1"), "'+' of 9223372036854775807 and 1 is too large");
  EXPECT_EQ(fault_of("2 ^ 64"), "'**' of 2 and 64 is too large");
  EXPECT_EQ(fault_of("log2(0)"), "'log2' needs a positive whole number, found 0");
  EXPECT_EQ(fault_of("dtype * 2"), "'*' needs numbers, found the string 'f32'");
  EXPECT_EQ(fault_of("dtype < 3"),
            "'<' needs two numbers or two strings, found the string 'f32' and 3");
}

TEST(TemplateFunctions, ListsAndChoice) {
  EXPECT_EQ(body_of("## for i in steps(8, 0, 0 - 3)\n{{ i }}{{ choose(loop.is_last, \".\", \",\") "
                    "}}\n## endfor\n"),
            "8,\n5,\n2.\n");
  EXPECT_EQ(value_of("at([4, 5, 6], 1) + length([1, 2])"), "7");
  EXPECT_EQ(value_of("choose(dtype in [\"f16\", \"f32\"], 1, div(1, 0))"), "1");
  EXPECT_EQ(fault_of("at([4], 1)"), "index 1 of a list of 1");
  EXPECT_EQ(fault_of("range(3)"), "expected a value, got a list");
}

TEST(TemplateFunctions, AFormulaBecomesCSource) {
  std::string source = value_of("formula(\"map\", \"f16\")", "n=1 map='2*x+1'");
  EXPECT_NE(source.find("2.0f"), std::string::npos) << source;
  EXPECT_NE(value_of("formula(\"map\", \"f64\")", "n=1 map='2*x+1'").find("2.0"),
            std::string::npos);
  EXPECT_EQ(fault_of("map"), "'map' is a formula: write formula(\"map\", real)");
  EXPECT_EQ(fault_of("formula(\"mop\", dtype)"),
            "'mop' is no formula of the problem; did you mean 'map'?");
}

TEST(TemplateFunctions, UnknownAndMiscalledFunctions) {
  EXPECT_EQ(fault_of("ceildiv(1, 2)"), "unknown function 'ceildiv'; did you mean 'ceil_div'?");
  EXPECT_EQ(fault_of("sort([2, 1])"),
            "unknown function 'sort'; the functions are min, max, abs, ceil_div, round_up, pow2, "
            "log2, sizeof, int, float, bool, uses, ctype, real, load, store, literal, formula, "
            "range, steps, length, at, exists, choose, bytes, div, mod, add, sub, mul");
  EXPECT_EQ(fault_of("ceil_div(1)"), "expected ',' and argument 2 of 'ceil_div', found ')'");
  EXPECT_EQ(fault_of("ctype()"), "expected a value, found ')'");
  EXPECT_EQ(fault_of("exists(tile)"), "expected a name in quotes: exists('tile'), found 'tile'");
}

}  // namespace
}  // namespace kiln::test
