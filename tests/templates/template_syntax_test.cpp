// How a template is read: the language of specs in its tags, statements that nest, and faults that
// are named with their place and what was expected.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

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
  EXPECT_EQ(error_of("{{ 3 in tile }}"),
            "scale/strided.inja:1:9: expected a list after 'in', got a value");
  EXPECT_EQ(error_of("## for i in [[1], 2]\n## endfor\n"),
            "scale/strided.inja:1:14: expected a value, got a list");
}

TEST(TemplateSyntax, AFractionIsRefused) {
  EXPECT_EQ(error_of("{{ tile/2 }}"),
            "scale/strided.inja:1:8: '/' would give a fraction: write a // b for whole numbers");
  EXPECT_EQ(error_of("{{ div(tile / 2, 1) }}"),
            "scale/strided.inja:1:13: '/' would give a fraction: write a // b for whole numbers");
}

TEST(TemplateSyntax, ThereAreNoFilters) {
  EXPECT_EQ(error_of("{{ | upper }}"), "scale/strided.inja:1:4: expected a value, found '|'");
  EXPECT_EQ(error_of("{{ dtype | upper }}"),
            "scale/strided.inja:1:12: unknown name 'upper' (there are no filters: write f(x) for "
            "'x | f')");
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
  EXPECT_EQ(body_of("## set i = 7\n## for i in [1, 2]\n## for i in range(1)\n{{ loop.index1 }}{{ i "
                    "}}{% set i = 9 %}{{ i }}\n## endfor\n{{ loop.index }}{{ i }}\n## endfor\n{{ i "
                    "}}\n"),
            "109\n01\n109\n12\n7\n");
}

TEST(TemplateSyntax, StatementsMustNest) {
  EXPECT_EQ(error_of("## for i in range(2)\n## if i == 1\n## endfor\n## endif\n"),
            "scale/strided.inja:3:4: 'endfor' crosses the 'if' of line 2: expected 'endif'");
  EXPECT_EQ(error_of("## endif\n"), "scale/strided.inja:1:4: 'endif' without a 'if' before it");
  EXPECT_EQ(error_of("x\n  ## for i in range(2)\n"),
            "scale/strided.inja:2:3: this 'for' has no 'endfor'");
  EXPECT_EQ(error_of("## if tile == 1\n## else\n## else\n## endif\n"),
            "scale/strided.inja:3:4: a second 'else' for one 'if'");
  EXPECT_EQ(error_of("## for i in range(2)\n## else\n## endfor\n"),
            "scale/strided.inja:2:4: 'else' without an 'if' around it");
}

TEST(TemplateSyntax, UnknownStatementsNameTheNearest) {
  EXPECT_EQ(error_of("{% inclde \"x\" %}"),
            "scale/strided.inja:1:4: unknown statement 'inclde'; did you mean 'include'? (there "
            "are for, endfor, if, elif, else, endif, set, include)");
  EXPECT_EQ(error_of("{% extends \"x\" %}"),
            "scale/strided.inja:1:4: unknown statement 'extends' (there are for, endfor, if, elif, "
            "else, endif, set, include)");
  EXPECT_EQ(error_of("##\n"), "scale/strided.inja:1:3: expected a statement");
  EXPECT_EQ(error_of("## endif now\n"), "scale/strided.inja:1:4: 'endif' without a 'if' before it");
  EXPECT_EQ(error_of("## if tile\n## endif now\n"),
            "scale/strided.inja:2:10: expected the end of the statement, found 'now'");
  EXPECT_EQ(error_of("## include convert\n"),
            "scale/strided.inja:1:12: expected the name of a template in quotes, found 'convert'");
}

TEST(TemplateSyntax, LoopsAndSetsNameOneName) {
  EXPECT_EQ(error_of("## for i, k in [1]\n## endfor\n"),
            "scale/strided.inja:1:9: a loop has one name: for x in list");
  EXPECT_EQ(error_of("## for i of [1]\n## endfor\n"),
            "scale/strided.inja:1:10: expected 'in' after the name of the loop, found 'of'");
  EXPECT_EQ(error_of("## for u8 in [1]\n## endfor\n"),
            "scale/strided.inja:1:8: expected a name, found 'u8'");
  EXPECT_EQ(error_of("## set true = 1\n"), "scale/strided.inja:1:8: expected a name, found 'true'");
  EXPECT_EQ(error_of("## set a\n"), "scale/strided.inja:1:9: expected '=' after the name to set");
  EXPECT_EQ(error_of("{% set a == 1 %}"),
            "scale/strided.inja:1:10: expected '=' after the name to set");
}

TEST(TemplateSyntax, CTextThatLooksLikeATag) {
  EXPECT_EQ(error_of("{#pragma once\n"),
            "scale/strided.inja:1:1: the comment that starts here has no '#}' ('{#' opens a "
            "template comment; for C "
            "text write '{ #')");
  EXPECT_EQ(
      error_of("int a[2][2] = {{1, 2}, {3, 4}};"),
      "scale/strided.inja:1:21: unexpected '}' ('{{' opens an expression; for C text write '{ {')");
  EXPECT_EQ(error_of("int a[1][1] = {{0}};"),
            "scale/strided.inja:1:17: this expression is a plain literal ('{{' opens an "
            "expression; for C text write '{ {')");
  const std::string unclosed =
      "the tag that starts here has no '}}' ('{{' opens an expression; for C text write '{ {')";
  EXPECT_EQ(error_of("{{ tile "), "scale/strided.inja:1:1: " + unclosed);
  EXPECT_EQ(lint(scale_spec("\n{{ tile"))[0].message, "scale/strided.inja:2:1: " + unclosed);
  // Not what the text behind the tag would mean in it.
  EXPECT_EQ(error_of("  y[{{ tile ] = 2 * x[i];\n"), "scale/strided.inja:1:5: " + unclosed);
  EXPECT_EQ(error_of("y[{{ tile] = x[{{ tile }}];\n"), "scale/strided.inja:1:3: " + unclosed);
  EXPECT_EQ(error_of("{{ tile ];  // don't\n{{ tile }}"), "scale/strided.inja:1:1: " + unclosed);
  EXPECT_EQ(error_of("{% if tile == 1\nx = {{ tile }}"),
            "scale/strided.inja:1:1: the tag that starts here has no '%}'");
}

TEST(TemplateSyntax, LiteralsAreWellFormed) {
  EXPECT_EQ(error_of("{{ add(1.2.3, 4) }}"), "scale/strided.inja:1:8: '1.2.3' is not a number");
  EXPECT_EQ(error_of("{{ add(1e999, 4) }}"), "scale/strided.inja:1:8: '1e999' is out of range");
  EXPECT_EQ(error_of("{{ load('f32, dtype) }}"),
            "scale/strided.inja:1:9: expected a closing ' for the string that starts here");
  EXPECT_EQ(error_of("## set a = load('f32, dtype)\n"),
            "scale/strided.inja:1:17: expected a closing ' for the string that starts here");
  EXPECT_EQ(error_of("## for i in [1,, 2]\n## endfor\n"),
            "scale/strided.inja:1:16: expected a value, found ','");
  EXPECT_EQ(error_of("## for i in [1 2]\n## endfor\n"),
            "scale/strided.inja:1:16: expected ']' after the values of the list, found '2'");
  EXPECT_EQ(body_of("{{ 'it' + \"'s\" }} {{ '}}' + '%}' }}\n"), "it's }}%}\n");
}

// Constants of a kernel keep their type: 1e3 is no whole number here.
TEST(TemplateSyntax, AnExponentMakesAFloat) {
  EXPECT_EQ(body_of("{{ 1e3 * unroll }} {{ 1.5 * unroll }}\n"), "2000.0 3.0\n");
}

TEST(TemplateSyntax, NestingIsBounded) {
  std::string deep = "{{ " + std::string(100, '(') + "1" + std::string(100, ')') + " }}";
  EXPECT_EQ(error_of(deep), "scale/strided.inja:1:68: nested more than 64 levels deep");
  std::string statements;
  for (int i = 0; i < 100; ++i) statements += "## if tile == 1\n";
  EXPECT_EQ(error_of(statements),
            "scale/strided.inja:65:1: more than 64 statements inside each other");
  std::string sum = "{{ 1";
  for (int i = 0; i < 2000; ++i) sum += " + 1";
  EXPECT_EQ(error_of(sum + " }}"),
            "scale/strided.inja:1:3: the expression is longer than 4096 characters");
}

TEST(TemplateSyntax, FaultsOfExpressionsHaveTheirPlace) {
  EXPECT_EQ(error_of("x {{ tile + }}"),
            "scale/strided.inja:1:13: expected a value, found the end of the expression");
  EXPECT_EQ(error_of("{{ }}"),
            "scale/strided.inja:1:4: expected a value, found the end of the expression");
  EXPECT_EQ(error_of("{{ tile block }}"),
            "scale/strided.inja:1:9: expected an operator or the end of the expression, found "
            "'block'");
  EXPECT_EQ(error_of("{{ add(1 2) }}"),
            "scale/strided.inja:1:10: expected ',' and argument 2 of 'add', found '2'");
  EXPECT_EQ(error_of("/* \xC3\xA9 */ {{ tile\n  + }}"),
            "scale/strided.inja:2:5: expected a value, found the end of the expression");
  EXPECT_EQ(error_of("## if tile = 1\n## endif\n"),
            "scale/strided.inja:1:12: unexpected '='; write '=='");
  EXPECT_EQ(error_of("{% if dtype %}{% endif %}"),
            "scale/strided.inja:1:7: expected a boolean, found the string 'f32'");
}

TEST(TemplateSyntax, RunawayTemplatesEnd) {
  EXPECT_EQ(error_of("## for i in range(65537)\n## endfor\n"),
            "scale/strided.inja:1:13: a list of more than 65536 values");
  EXPECT_EQ(
      error_of(
          "## for i in range(65536)\n## for j in range(65536)\n{{ i }}\n## endfor\n## endfor\n"),
      "scale/strided.inja:3:8: the template does not come to an end (500000 nodes)");
}

}  // namespace
}  // namespace kiln::test
