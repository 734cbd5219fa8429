// What the expression language says about mistakes: word for word, with the column in the file.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/expression.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

/// `message` from its column on, if it is about line 12 of spec.toml.
std::string from_column(const std::string& message) {
  const std::string line = "spec.toml:12:";
  return message.starts_with(line) ? message.substr(line.size()) : message;
}

/// Message of parsing `text` as if it stood at line 12, column 11 of a spec.
std::string parse_error(const std::string& text) {
  return from_column(test::error_of<InputError>(
      [&] {
        return Expression::parse(text, {"spec.toml", 12, 11});
      },
      "parsed"));
}

Scope error_scope() {
  Scope scope;
  scope.set("n", std::int64_t{1000});
  scope.set("zero", std::int64_t{0});
  scope.set("half", 0.5);
  scope.set("dtype", std::string("f16"));
  return scope;
}

template <typename Evaluate>
std::string message_of(const Evaluate& evaluate) {
  return test::error_of<EvaluationError>([&] { return evaluate(); }, "evaluated");
}

std::string evaluation_error(const std::string& text) {
  const Expression expression = Expression::parse(text, {"spec.toml", 12, 11});
  return from_column(message_of([&] { return expression.evaluate(error_scope()); }));
}

TEST(ExpressionErrors, SayWhatWasExpectedAndWhatIsThere) {
  EXPECT_EQ(parse_error("1 +"), "14: expected a value, found the end of the expression");
  EXPECT_EQ(parse_error("n n"), "13: expected an operator or the end of the expression, found 'n'");
  EXPECT_EQ(parse_error("n 'f32'"),
            "13: expected an operator or the end of the expression, found the string 'f32'");
  EXPECT_EQ(parse_error("(1 + 2"),
            "17: expected ')' to close the bracket, found the end of the expression");
  EXPECT_EQ(parse_error("1 if n"),
            "17: expected 'else' after the condition of 'if', found the end of the expression");
  EXPECT_EQ(parse_error("n not 3"), "17: expected 'in' after 'not', found '3'");
  EXPECT_EQ(parse_error(""), "11: expected a value, found the end of the expression");
}

TEST(ExpressionErrors, CountTheArgumentsOfFunctions) {
  EXPECT_EQ(parse_error("ceil_div(n, 7, 3)"),
            "24: expected ')' after the arguments of 'ceil_div', found ','");
  EXPECT_EQ(parse_error("ceil_div(n)"), "21: expected ',' and argument 2 of 'ceil_div', found ')'");
  EXPECT_EQ(parse_error("min(n)"), "16: expected ',' and argument 2 of 'min', found ')'");
  EXPECT_EQ(parse_error("log2(n, 2)"), "17: expected ')' after the argument of 'log2', found ','");
  EXPECT_EQ(parse_error("min(1 2)"), "17: expected ',' and argument 2 of 'min', found '2'");
  EXPECT_EQ(parse_error("min(1, 2 3)"), "20: expected ')' after the arguments of 'min', found '3'");
}

TEST(ExpressionErrors, ListTheFunctionsThereAre) {
  const std::string known =
      "; the functions are min, max, abs, ceil_div, round_up, pow2, log2, sizeof, int, float, "
      "bool, uses";
  EXPECT_EQ(parse_error("1 + foo(n)"), "15: unknown function 'foo'" + known);
  EXPECT_EQ(parse_error("sin(n)"), "11: 'sin' can only be called in a formula" + known);
}

TEST(ExpressionErrors, AllowListsOnlyBehindIn) {
  EXPECT_EQ(parse_error("[1, 2]"), "11: a list may only stand to the right of 'in'");
  EXPECT_EQ(parse_error("n in 3"), "16: expected '[' and a list of values after 'in', found '3'");
  EXPECT_EQ(parse_error("n in []"), "17: expected a value, found ']'");
  EXPECT_EQ(parse_error("n in [1; 2]"), "18: unexpected character ';'");
}

TEST(ExpressionErrors, HelpThoseWhoWriteC) {
  EXPECT_EQ(parse_error("n && n"), "13: unexpected '&&'; write 'and'");
  EXPECT_EQ(parse_error("n || n"), "13: unexpected '||'; write 'or'");
  EXPECT_EQ(parse_error("!n"), "11: unexpected '!'; write 'not'");
  EXPECT_EQ(parse_error("n = 3"), "13: unexpected '='; write '=='");
  EXPECT_EQ(parse_error("n ? 1 : 2"), "13: unexpected '?'; write 'a if condition else b'");
}

TEST(ExpressionErrors, RefuseWhatIsNoNumberOrString) {
  EXPECT_EQ(parse_error("64Ki"), "11: '64Ki' is not a number");
  EXPECT_EQ(parse_error("1.2.3"), "11: '1.2.3' is not a number");
  EXPECT_EQ(parse_error("0x"), "11: '0x' is not a number");
  EXPECT_EQ(parse_error("0b12"), "11: '0b12' is not a number");
  EXPECT_EQ(parse_error("1_"), "11: '1_' is not a number");
  EXPECT_EQ(parse_error("1__0"), "11: '1__0' is not a number");
  EXPECT_EQ(parse_error("1e999"), "11: '1e999' is out of range");
  EXPECT_EQ(parse_error("n == 'f32"), "16: expected a closing ' for the string that starts here");
}

TEST(ExpressionErrors, CountColumnsInCharactersAndLinesInTexts) {
  EXPECT_EQ(parse_error("'\u00e9\u00e9' == @"), "19: unexpected character '@'");
  EXPECT_EQ(parse_error("n \u00d7 2"), "13: unexpected character '\u00d7'");
  EXPECT_EQ(parse_error("n <=\n  $"), "spec.toml:13:3: unexpected character '$'");
}

TEST(ExpressionErrors, QuoteAnExpressionThatStandsInNoFile) {
  EXPECT_EQ(test::error_of<InputError>([&] { return Expression::parse("1 + * 2"); }),
            "expected a value, found '*' at column 5 of '1 + * 2'");
  EXPECT_EQ(message_of([] { return Expression::parse("n // zero").evaluate(error_scope()); }),
            "division by zero at column 3 of 'n // zero'");
}

TEST(ExpressionErrors, BoundDepthAndLength) {
  const std::string deep = std::string(64, '(') + "1" + std::string(64, ')');
  EXPECT_EQ(parse_error(deep), "75: nested more than 64 levels deep");
  EXPECT_EQ(parse_error(deep.substr(1, deep.size() - 2)), "parsed");
  EXPECT_EQ(parse_error(std::string(70, '-') + "1"), "75: nested more than 64 levels deep");
  EXPECT_EQ(parse_error(std::string(4097, ' ')),
            "11: the expression is longer than 4096 characters");
  std::string row = "1";
  for (int i = 0; i < 600; ++i) row += "+1";
  EXPECT_EQ(parse_error(row), "1034: more than 512 operators in a row");
}

TEST(EvaluationErrors, PointAtTheOperatorAndQuoteTheExpression) {
  EXPECT_EQ(evaluation_error("n // zero"), "13: division by zero, in 'n // zero'");
  EXPECT_EQ(evaluation_error("n % zero"), "13: division by zero, in 'n % zero'");
  EXPECT_EQ(evaluation_error("n / zero"), "13: division by zero, in 'n / zero'");
  EXPECT_EQ(evaluation_error("half // 0.0"), "16: division by zero, in 'half // 0.0'");
  EXPECT_EQ(evaluation_error("zero ** -1"), "16: division by zero, in 'zero ** -1'");
  EXPECT_EQ(evaluation_error("ceil_div(n, zero)"), "11: division by zero, in 'ceil_div(n, zero)'");
}

TEST(EvaluationErrors, ReportIntegersThatDoNotFit) {
  EXPECT_EQ(evaluation_error("n + 9223372036854775807"),
            "13: 9223372036854776807 does not fit into 64 bits, in 'n + 9223372036854775807'");
  EXPECT_EQ(evaluation_error("2 ** 63"),
            "13: 9223372036854775808 does not fit into 64 bits, in '2 ** 63'");
  EXPECT_EQ(evaluation_error("99999999999999999999"),
            "11: 99999999999999999999 does not fit into 64 bits, in '99999999999999999999'");
  EXPECT_EQ(evaluation_error("n ** n"), "13: '**' of 1000 and 1000 is too large, in 'n ** n'");
  EXPECT_EQ(evaluation_error("-(-9223372036854775807 - 1)"),
            "11: 9223372036854775808 does not fit into 64 bits, in '-(-9223372036854775807 - 1)'");
  for (const char* text :
       {"(-9223372036854775807 - 1) // -1", "abs(-9223372036854775807 - 1)",
        "n * 9223372036854775807", "-9223372036854775807 - n", "round_up(9223372036854775807, 2)",
        "ceil_div(-9223372036854775807 - 1, -1)"}) {
    EXPECT_THAT(evaluation_error(text), HasSubstr("does not fit into 64 bits")) << text;
  }
}

TEST(EvaluationErrors, NameTheTypeThatIsNeeded) {
  EXPECT_EQ(evaluation_error("n + dtype"),
            "13: '+' needs numbers, found the string 'f16', in 'n + dtype'");
  EXPECT_EQ(evaluation_error("min(dtype, 2)"),
            "11: 'min' needs numbers, found the string 'f16', in 'min(dtype, 2)'");
  EXPECT_EQ(
      evaluation_error("dtype < 3"),
      "17: '<' needs two numbers or two strings, found the string 'f16' and 3, in 'dtype < 3'");
  EXPECT_EQ(evaluation_error("true and dtype or n"),
            "20: expected a boolean, found the string 'f16', in 'true and dtype or n'");
  EXPECT_EQ(evaluation_error("1 if dtype else 2"),
            "16: expected a boolean, found the string 'f16', in '1 if dtype else 2'");
  EXPECT_EQ(evaluation_error("not dtype"),
            "11: expected a boolean, found the string 'f16', in 'not dtype'");
  EXPECT_EQ(evaluation_error("half & 1"), "16: '&' needs whole numbers, found 0.5, in 'half & 1'");
  EXPECT_EQ(evaluation_error("n << -1"), "13: '<<' by a negative number: -1, in 'n << -1'");
  EXPECT_EQ(evaluation_error("(-n) ** half"),
            "16: '**' of -1000 and 0.5 is no real number, in '(-n) ** half'");
  EXPECT_EQ(evaluation_error("log2(zero)"),
            "11: 'log2' needs a positive whole number, found 0, in 'log2(zero)'");
  EXPECT_EQ(evaluation_error("sizeof(n)"),
            "11: 'sizeof' needs an element type (i8, u8, i16, u16, i32, u32, i64, u64, e4m3, e5m2, "
            "f16, bf16, f32, f64), found 1000, in 'sizeof(n)'");
  EXPECT_EQ(evaluation_error("uses('x + 1', n)"),
            "11: 'uses' needs a formula and a name, found the string 'x + 1' and 1000, in 'uses('x "
            "+ 1', n)'");
}

TEST(EvaluationErrors, NameTheNameWithoutValue) {
  EXPECT_EQ(evaluation_error("n + tile"), "15: 'tile' has no value, in 'n + tile'");
}

TEST(EvaluationErrors, RefuseResultsOfAnotherType) {
  const Scope scope = error_scope();
  const auto parse = [](const char* text) { return Expression::parse(text, {"spec.toml", 4, 8}); };
  EXPECT_EQ(message_of([&] { return parse("half + 1").evaluate_int(scope); }),
            "spec.toml:4:8: expected a whole number, found 1.5, in 'half + 1'");
  EXPECT_EQ(message_of([&] { return parse("dtype").evaluate_int(scope); }),
            "spec.toml:4:8: expected a whole number, found the string 'f16', in 'dtype'");
  EXPECT_EQ(message_of([&] { return parse("dtype").evaluate_number(scope); }),
            "spec.toml:4:8: expected a number, found the string 'f16', in 'dtype'");
  EXPECT_EQ(message_of([&] { return parse("dtype").evaluate_bool(scope); }),
            "spec.toml:4:8: expected a boolean, found the string 'f16', in 'dtype'");
  EXPECT_EQ(message_of([&] { return parse("n").evaluate_string(scope); }),
            "spec.toml:4:8: expected a string, found 1000, in 'n'");
}

TEST(EvaluationErrors, AreForUsersButMisuseIsForProgrammers) {
  EXPECT_THROW(static_cast<void>(Expression().evaluate(Scope())), std::logic_error);
  EXPECT_THROW(static_cast<void>(Expression::parse("n").to_c("float")), std::logic_error);
  const std::vector<const Value*> no_slots;
  EXPECT_THROW(static_cast<void>(Expression::parse("n").evaluate(no_slots)), std::logic_error);
  EXPECT_THROW(static_cast<void>(Expression::parse("n").evaluate_truth(no_slots)),
               std::logic_error);
}

}  // namespace
}  // namespace kiln
