// Templates: syntax, lines, bounds, functions.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

using Files = std::map<std::string, std::string>;
using ::testing::HasSubstr;

// How a template is read: the language of specs in its tags, statements that nest, and faults that
// are named with their place and what was expected.

TEST(TemplateSyntax, ExpressionsAreThoseOfSpecs) {
  EXPECT_EQ(body_of("{{ tile-1 }} {{ (tile)-1 }} {{ 7-1 }} {{- tile -}}"), "255 255 6256");
  EXPECT_EQ(body_of("{{ tile // 3 }} {{ -7 // 2 }} {{ -tile }} {{ 0x10 + 1_000 }}\n"),
            "85 -4 -256 1016\n");
  EXPECT_EQ(body_of("{{ 'f' + \"32\" }} {{ 'a' if tile == 256 else 'b' }} {{ sizeof(f16) }}\n"),
            "f32 a 2\n");
  EXPECT_EQ(body_of("{{ 1 < unroll <= 2 }} {{ dtype == f32 }} {{ 'a' < 'b' }} {{ 6 & 3 | 8 }}\n"),
            "1 1 1 10\n");
  EXPECT_EQ(body_of("{{ dtype not in ['f16', f64] }} {{ unroll in (1, 2) }}\n"), "1 1\n");
  EXPECT_EQ(body_of("{{ min(tile, 3, 2) }} {{ abs(-3) }} {{ 2 ** 3 ** 2 }}\n"), "2 3 512\n");
}

TEST(TemplateSyntax, OperatorsBindAsInSpecs) {
  EXPECT_EQ(body_of("{{ tile == 256 or unroll == 1 and block == 1 }}\n"), "1\n");
  EXPECT_EQ(body_of("{{ not tile == 1 }} {{ not tile in [1, 2] }} {{ not (tile == 1) }}\n"),
            "1 1 1\n");
  EXPECT_EQ(body_of("{{ 1 + 2 * 3 }} {{ 2 * 2 ^ 3 }} {{ -2 ** 2 }}\n"), "7 16 -4\n");
}

TEST(TemplateSyntax, AndAndOrAreTruthValues) {
  EXPECT_EQ(body_of("{{ unroll and block }} {{ 0 or tile }} {{ 0 and 1 // 0 }}\n"), "1 1 0\n");
}

TEST(TemplateSyntax, ListsHoldAnyExpression) {
  EXPECT_EQ(body_of("## for i in [1, tile, unroll + 1,]\n{{ i }}\n## endfor\n"), "1\n256\n3\n");
  EXPECT_EQ(body_of("## for i in []\n{{ i }}\n## endfor\n.\n"), ".\n");
  EXPECT_EQ(body_of("## set types = ['u8', dtype]\n{{ dtype in types }} {{ 3 in range(3) }}\n"),
            "1 0\n");
  EXPECT_EQ(error_in("{{ 3 in tile }}"), "1:9: expected a list after 'in', got a value");
  EXPECT_EQ(error_in("## for i in [[1], 2]\n## endfor\n"), "1:14: expected a value, got a list");
}

TEST(TemplateSyntax, AFractionIsRefused) {
  EXPECT_EQ(error_in("{{ tile/2 }}"),
            "1:8: '/' would give a fraction: write a // b for whole numbers");
  EXPECT_EQ(error_in("{{ div(tile / 2, 1) }}"),
            "1:13: '/' would give a fraction: write a // b for whole numbers");
}

TEST(TemplateSyntax, ThereAreNoFilters) {
  EXPECT_EQ(error_in("{{ | upper }}"), "1:4: expected a value, found '|'");
  EXPECT_EQ(error_in("{{ dtype | upper }}"),
            "1:12: unknown name 'upper' (there are no filters: write f(x) for 'x | f')");
}

TEST(TemplateSyntax, TheFirstArmThatIsTrueIsTaken) {
  const std::string text =
      "## if block == 1\na\n## elif block == 128\nb\n## else if block > 100\nc\n## else\nd\n"
      "## endif\n";
  EXPECT_EQ(body_of(text), "b\n");
  EXPECT_EQ(body_of(text, "strided:block=256"), "c\n");
  EXPECT_EQ(body_of(text, "strided:block=64"), "d\n");
}

// What a loop hides comes back, in a template that the loop includes, too.
TEST(TemplateSyntax, ALoopHidesNamesUntilItsEnd) {
  EXPECT_EQ(
      body_of("## set i = 7\n## for i in [1, 2]\n## for i in range(1)\n{{ loop.index1 }}{{ i }}{% "
              "set i = 9 %}{{ i }}\n## endfor\n{{ loop.index }}{{ i }}\n## endfor\n{{ i }}\n"),
      "109\n01\n109\n12\n7\n");
}

TEST(TemplateSyntax, StatementsMustNest) {
  EXPECT_EQ(error_in("## for i in range(2)\n## if i == 1\n## endfor\n## endif\n"),
            "3:4: 'endfor' crosses the 'if' of line 2: expected 'endif'");
  EXPECT_EQ(error_in("## endif\n"), "1:4: 'endif' without a 'if' before it");
  EXPECT_EQ(error_in("x\n  ## for i in range(2)\n"), "2:3: this 'for' has no 'endfor'");
  EXPECT_EQ(error_in("## if tile == 1\n## else\n## else\n## endif\n"),
            "3:4: a second 'else' for one 'if'");
  EXPECT_EQ(error_in("## for i in range(2)\n## else\n## endfor\n"),
            "2:4: 'else' without an 'if' around it");
}

TEST(TemplateSyntax, UnknownStatementsNameTheNearest) {
  EXPECT_EQ(error_in("{% inclde \"x\" %}"),
            "1:4: unknown statement 'inclde'; did you mean 'include'? (there are for, endfor, if, "
            "elif, else, endif, set, include)");
  EXPECT_EQ(error_in("{% extends \"x\" %}"),
            "1:4: unknown statement 'extends' (there are for, endfor, if, elif, else, endif, set, "
            "include)");
  EXPECT_EQ(error_in("##\n"), "1:3: expected a statement");
  EXPECT_EQ(error_in("## endif now\n"), "1:4: 'endif' without a 'if' before it");
  EXPECT_EQ(error_in("## if tile\n## endif now\n"),
            "2:10: expected the end of the statement, found 'now'");
  EXPECT_EQ(error_in("## include convert\n"),
            "1:12: expected the name of a template in quotes, found 'convert'");
}

TEST(TemplateSyntax, LoopsAndSetsNameOneName) {
  EXPECT_EQ(error_in("## for i, k in [1]\n## endfor\n"), "1:9: a loop has one name: for x in list");
  EXPECT_EQ(error_in("## for i of [1]\n## endfor\n"),
            "1:10: expected 'in' after the name of the loop, found 'of'");
  EXPECT_EQ(error_in("## for u8 in [1]\n## endfor\n"), "1:8: expected a name, found 'u8'");
  EXPECT_EQ(error_in("## set true = 1\n"), "1:8: expected a name, found 'true'");
  EXPECT_EQ(error_in("## set a\n"), "1:9: expected '=' after the name to set");
  EXPECT_EQ(error_in("{% set a == 1 %}"), "1:10: expected '=' after the name to set");
}

TEST(TemplateSyntax, CTextThatLooksLikeATag) {
  EXPECT_EQ(error_in("{#pragma once\n"),
            "1:1: the comment that starts here has no '#}' ('{#' opens a template comment; for C "
            "text write '{ #')");
  EXPECT_EQ(error_in("int a[2][2] = {{1, 2}, {3, 4}};"),
            "1:21: unexpected '}' ('{{' opens an expression; for C text write '{ {')");
  EXPECT_EQ(error_in("int a[1][1] = {{0}};"),
            "1:17: this expression is a plain literal ('{{' opens an expression; for C text write "
            "'{ {')");
  const std::string unclosed =
      "the tag that starts here has no '}}' ('{{' opens an expression; for C text write '{ {')";
  EXPECT_EQ(error_in("{{ tile "), "1:1: " + unclosed);
  EXPECT_EQ(lint(scale_spec("\n{{ tile"))[0].message, "scale/strided.inja:2:1: " + unclosed);
  // Not what the text behind the tag would mean in it.
  EXPECT_EQ(error_in("  y[{{ tile ] = 2 * x[i];\n"), "1:5: " + unclosed);
  EXPECT_EQ(error_in("y[{{ tile] = x[{{ tile }}];\n"), "1:3: " + unclosed);
  EXPECT_EQ(error_in("{{ tile ];  // don't\n{{ tile }}"), "1:1: " + unclosed);
  EXPECT_EQ(error_in("{% if tile == 1\nx = {{ tile }}"),
            "1:1: the tag that starts here has no '%}'");
}

TEST(TemplateSyntax, LiteralsAreWellFormed) {
  EXPECT_EQ(error_in("{{ add(1.2.3, 4) }}"), "1:8: '1.2.3' is not a number");
  EXPECT_EQ(error_in("{{ add(1e999, 4) }}"), "1:8: '1e999' is out of range");
  EXPECT_EQ(error_in("{{ load('f32, dtype) }}"),
            "1:9: expected a closing ' for the string that starts here");
  EXPECT_EQ(error_in("## set a = load('f32, dtype)\n"),
            "1:17: expected a closing ' for the string that starts here");
  EXPECT_EQ(error_in("## for i in [1,, 2]\n## endfor\n"), "1:16: expected a value, found ','");
  EXPECT_EQ(error_in("## for i in [1 2]\n## endfor\n"),
            "1:16: expected ']' after the values of the list, found '2'");
  EXPECT_EQ(body_of("{{ 'it' + \"'s\" }} {{ '}}' + '%}' }}\n"), "it's }}%}\n");
}

// Constants of a kernel keep their type: 1e3 is no whole number here.
TEST(TemplateSyntax, AnExponentMakesAFloat) {
  EXPECT_EQ(body_of("{{ 1e3 * unroll }} {{ 1.5 * unroll }}\n"), "2000.0 3.0\n");
}

TEST(TemplateSyntax, NestingIsBounded) {
  std::string deep = "{{ " + std::string(100, '(') + "1" + std::string(100, ')') + " }}";
  EXPECT_EQ(error_in(deep), "1:68: nested more than 64 levels deep");
  std::string statements;
  for (int i = 0; i < 100; ++i) statements += "## if tile == 1\n";
  EXPECT_EQ(error_in(statements), "65:1: more than 64 statements inside each other");
  std::string sum = "{{ 1";
  for (int i = 0; i < 2000; ++i) sum += " + 1";
  EXPECT_EQ(error_in(sum + " }}"), "1:3: the expression is longer than 4096 characters");
}

TEST(TemplateSyntax, FaultsOfExpressionsHaveTheirPlace) {
  EXPECT_EQ(error_in("x {{ tile + }}"), "1:13: expected a value, found the end of the expression");
  EXPECT_EQ(error_in("{{ }}"), "1:4: expected a value, found the end of the expression");
  EXPECT_EQ(error_in("{{ tile block }}"),
            "1:9: expected an operator or the end of the expression, found 'block'");
  EXPECT_EQ(error_in("{{ add(1 2) }}"), "1:10: expected ',' and argument 2 of 'add', found '2'");
  EXPECT_EQ(error_in("/* \xC3\xA9 */ {{ tile\n  + }}"),
            "2:5: expected a value, found the end of the expression");
  EXPECT_EQ(error_in("## if tile = 1\n## endif\n"), "1:12: unexpected '='; write '=='");
  EXPECT_EQ(error_in("{% if dtype %}{% endif %}"),
            "1:7: expected a boolean, found the string 'f32'");
}

TEST(TemplateSyntax, RunawayTemplatesEnd) {
  EXPECT_EQ(error_in("## for i in range(65537)\n## endfor\n"),
            "1:13: a list of more than 65536 values");
  EXPECT_EQ(
      error_in(
          "## for i in range(65536)\n## for j in range(65536)\n{{ i }}\n## endfor\n## endfor\n"),
      "3:8: the template does not come to an end (500000 nodes)");
}

// Which line breaks a tag takes along.

TEST(TemplateLines, ATagBehindOtherTextLeavesTheLineBreak) {
  EXPECT_EQ(body_of("// guard {# why #}\nif (1);\n"), "// guard\nif (1);\n");
  EXPECT_EQ(body_of("#define A 1{# why #}\nint a;\n"), "#define A 1\nint a;\n");
  EXPECT_EQ(body_of("int a; {% if tile == 256 %}// big{% endif %}\nint b;\n"),
            "int a; // big\nint b;\n");
  EXPECT_EQ(body_of("{{ tile }}{% set a = 1 %}\n{{ a }}\n"), "256\n1\n");
  EXPECT_EQ(body_of("int a; {# over\ntwo lines #}\nint b;\n"), "int a;\nint b;\n");
  EXPECT_EQ(body_of("int a; {# why #}  \r\nint b;\n"), "int a;\nint b;\n");
}

TEST(TemplateLines, ATagInFrontOfOtherTextLeavesTheLineBreak) {
  EXPECT_EQ(body_of("{# why #} int a;\nint b;\n"), " int a;\nint b;\n");
  EXPECT_EQ(body_of("{% if tile == 256 %}int a;{% endif %}\nint b;\n"), "int a;\nint b;\n");
}

TEST(TemplateLines, ATagAloneOnItsLineTakesTheLineAlong) {
  EXPECT_EQ(body_of("int a;\n  {# why #}\nint b;\n"), "int a;\nint b;\n");
  EXPECT_EQ(body_of("int a;\n{% if tile == 256 %}  \nint b;\n{% endif %}\nint c;\n"),
            "int a;\nint b;\nint c;\n");
  EXPECT_EQ(body_of("int a;\n{# over\ntwo lines #}\nint b;\n"), "int a;\nint b;\n");
  EXPECT_EQ(body_of("int a;\r\n{# why #}\r\nint b;\r\n"), "int a;\nint b;\n");
}

TEST(TemplateLines, TagsAloneTogetherTakeTheLineAlong) {
  EXPECT_EQ(body_of("int a;\n{% set c = 1 %} {# why #}\n{{ c }};\n"), "int a;\n1;\n");
}

TEST(TemplateLines, AMinusTakesBlanksAlong) {
  EXPECT_EQ(body_of("a {%- if tile == 256 -%} \n\n  b\n{% endif %}\n"), "a b\n");
  EXPECT_EQ(body_of("a\n  {{- tile -}}  \n\nb\n"), "a\n256b\n");
  EXPECT_EQ(body_of("a {{ unroll }} {{- tile }}\n"), "a 2256\n");
  EXPECT_EQ(body_of("a\n  {#- why -#}\n\nb\n"), "a\nb\n");
  EXPECT_EQ(body_of("a\n  {%+ if tile == 256 %}b{% endif %}\n"), "a\n  b\n");
}

TEST(TemplateLines, AnExpressionNeverTakesALineBreak) {
  EXPECT_EQ(body_of("{{ tile }}\nint b;\n"), "256\nint b;\n");
}

// How far templates may go in work and in text: what passes a limit is named with its place.

/// The message for a template that includes others.
std::string error_with(const std::string& text, const Files& files) {
  KernelSpec spec = scale_spec(text + "\nKERNEL(1, 1, 1) scale_strided(void) {}\n");
  spec.files.insert(files.begin(), files.end());
  try {
    (void)render(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TemplateBounds, ATextThatDoublesEndsAtItsPlace) {
  std::string text = "{% set t = \"abcdefgh\" %}\n";
  for (int i = 0; i < 30; ++i) text += "{% set t = t + t %}\n";
  EXPECT_THAT(error_in(text), HasSubstr("15:14: a text of more than 65536"));
}

TEST(TemplateBounds, LoopsThatDoNotEndInTimeAreNamed) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "{% for i" + std::to_string(i) + " in range(60000) %}\n";
  }
  text += "{% set a = range(60000) %}\n{% endfor %}{% endfor %}{% endfor %}{% endfor %}\n";
  EXPECT_THAT(error_in(text), HasSubstr("the template takes too much work (5 million steps)"));
}

TEST(TemplateBounds, IndentsCountAsText) {
  const std::string blanks(4000, ' ');
  const Files files = {{"lines.inja", "{% for i in range(9000) %}\na\n{% endfor %}\n"}};
  EXPECT_THAT(error_with(blanks + "{% include \"lines.inja\" %}\n", files),
              HasSubstr("the template writes more than 8 MiB"));
}

TEST(TemplateBounds, ATreeOfIncludesEndsAtItsPlace) {
  Files files;
  for (int i = 0; i < 30; ++i) {
    const std::string next = "{% include \"t" + std::to_string(i + 1) + ".inja\" %}\n";
    files["t" + std::to_string(i) + ".inja"] = next + next;
  }
  files["t30.inja"] = "int a;\n";
  EXPECT_THAT(error_with("{% include \"t0.inja\" %}\n", files),
              HasSubstr("the includes of this template do not come to an end (500000 nodes)"));
}

// The functions and operators of templates, as a template author meets them.

std::string value_of(const std::string& expression, const std::string& problem = "n=1000") {
  std::string text = body_of("{{ " + expression + " }}\n", "strided", problem);
  return text.substr(0, text.find('\n'));
}

std::string fault_of(const std::string& expression) {
  std::string message = error_in("{{ " + expression + " }}");
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
  EXPECT_THAT(source, HasSubstr("2.0f"));
  EXPECT_THAT(value_of("formula(\"map\", \"f64\")", "n=1 map='2*x+1'"), HasSubstr("2.0"));
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
