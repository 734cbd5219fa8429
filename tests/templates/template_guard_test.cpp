// What inja would misread, accept or crash on is refused with its place and what to write instead.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

TEST(TemplateGuard, AMinusWithoutSpacesIsNotPartOfAName) {
  EXPECT_EQ(error_of("a\nb {{ tile-1 }}"),
            "scale/strided.inja:2:10: write spaces around '-': 'tile-' would be read as part of "
            "one name");
  EXPECT_EQ(body_of("{{ tile - 1 }} {{ (tile)-1 }} {{ 7-1 }} {{- tile -}}"), "255 255 6256");
}

TEST(TemplateGuard, DivisionIsByFunctionOnly) {
  EXPECT_EQ(error_of("{{ tile/2 }}"),
            "scale/strided.inja:1:8: '/' would give a fraction: write div(a, b) for whole numbers");
  EXPECT_EQ(error_of("{{ tile / 2 }}"),
            "scale/strided.inja:1:9: '/' would give a fraction: write div(a, b) for whole numbers");
}

TEST(TemplateGuard, ThereAreNoFiltersAndNoSigns) {
  EXPECT_EQ(error_of("{{ | upper }}"),
            "scale/strided.inja:1:4: there are no filters: write f(x) for 'x | f'");
  EXPECT_EQ(error_of("{{ dtype | upper }}"),
            "scale/strided.inja:1:10: there are no filters: write f(x) for 'x | f'");
  EXPECT_EQ(error_of("{{ add(1, -2) }}"),
            "scale/strided.inja:1:11: there is no sign in templates: write 0 - x");
}

TEST(TemplateGuard, AndWithOrNeedsParentheses) {
  EXPECT_EQ(error_of("{% if tile == 1 or unroll == 1 and block == 1 %}{% endif %}"),
            "scale/strided.inja:1:32: put parentheses around the 'and' or the 'or'");
  EXPECT_EQ(body_of("{{ choose(tile == 256 or (unroll == 1 and block == 1), 1, 2) }}\n"), "1\n");
}

TEST(TemplateGuard, NotBindsTighterThanAComparison) {
  EXPECT_EQ(error_of("{% if not tile == 1 %}{% endif %}"),
            "scale/strided.inja:1:16: 'not' binds tighter than '==': write not (a == b)");
  EXPECT_EQ(error_of("{% if not tile in [1, 2] %}{% endif %}"),
            "scale/strided.inja:1:16: 'not' binds tighter than 'in': write not (a in b)");
  EXPECT_EQ(body_of("{{ choose(not (tile == 1), 1, 2) }}\n"), "1\n");
}

TEST(TemplateGuard, StatementsMustNest) {
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

TEST(TemplateGuard, UnknownStatementsNameTheNearest) {
  EXPECT_EQ(error_of("{% inclde \"x\" %}"),
            "scale/strided.inja:1:4: unknown statement 'inclde'; did you mean 'include'? (there "
            "are for, endfor, if, else, "
            "endif, set, include)");
  EXPECT_EQ(error_of("{% extends \"x\" %}"),
            "scale/strided.inja:1:4: unknown statement 'extends' (there are for, endfor, if, else, "
            "endif, set, include)");
}

TEST(TemplateGuard, CTextThatLooksLikeATag) {
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
  EXPECT_EQ(error_of("{{ tile "),
            "scale/strided.inja:1:1: the tag that starts here does not end before the '{' of a "
            "later line");
  EXPECT_EQ(lint(scale_spec("\n{{ tile"))[0].message,
            "scale/strided.inja:2:1: the tag that starts here has no '}}'");
  // Not what the text behind the tag would mean in it.
  EXPECT_EQ(error_of("  y[{{ tile ] = 2 * x[i];\n"),
            "scale/strided.inja:1:5: the tag that starts here has no '}}' on its line");
  EXPECT_EQ(error_of("y[{{ tile] = x[{{ tile }}];\n"),
            "scale/strided.inja:1:3: the tag that starts here has no '}}' on its line");
}

TEST(TemplateGuard, LiteralsAreWellFormed) {
  EXPECT_EQ(error_of("{{ add(1.2.3, 4) }}"),
            "scale/strided.inja:1:8: malformed number (write 12, 1.5 or 1e-3)");
  EXPECT_EQ(error_of("{{ add(0x10, 4) }}"),
            "scale/strided.inja:1:8: malformed number (write 12, 1.5 or 1e-3)");
  EXPECT_EQ(error_of("{{ add(9223372036854775808, 4) }}"),
            "scale/strided.inja:1:8: the number is too large");
  EXPECT_EQ(error_of("{{ add(1e999, 4) }}"), "scale/strided.inja:1:8: the number is too large");
  EXPECT_EQ(error_of("{{ load(dtype, \"\xff\") }}"),
            "scale/strided.inja:1:17: only ASCII in template texts");
  EXPECT_EQ(error_of("{{ null }}"), "scale/strided.inja:1:4: there is no null in templates");
  EXPECT_EQ(error_of("{{ load('f32', dtype) }}"),
            "scale/strided.inja:1:9: write texts in templates in double quotes");
  EXPECT_EQ(error_of("{{ load(\"f32, dtype) }}"),
            "scale/strided.inja:1:9: the text that starts here has no closing '\"' on its line");
  EXPECT_EQ(error_of("## for i in [1, tile]\n## endfor\n"),
            "scale/strided.inja:1:17: a list holds numbers and texts only, not the name 'tile'");
  EXPECT_EQ(error_of("## for i in [1,, 2]\n## endfor\n"),
            "scale/strided.inja:1:16: a list holds numbers and texts only");
  EXPECT_EQ(error_of("## for i in [1 2]\n## endfor\n"),
            "scale/strided.inja:1:16: expected ',' or ']' in the list");
}

TEST(TemplateGuard, NestingIsBounded) {
  std::string deep = "{{ " + std::string(100, '(') + "1" + std::string(100, ')') + " }}";
  EXPECT_EQ(error_of(deep), "scale/strided.inja:1:67: more than 64 parentheses inside each other");
  std::string statements;
  for (int i = 0; i < 100; ++i) statements += "## if tile == 1\n";
  EXPECT_EQ(error_of(statements),
            "scale/strided.inja:65:1: more than 64 statements inside each other");
  std::string chain = "## if tile == 1\n";
  for (int i = 0; i < 300; ++i) chain += "## else if tile == 2\n";
  EXPECT_EQ(error_of(chain + "## endif\n"),
            "scale/strided.inja:258:4: more than 256 'else if' of one 'if'");
  std::string sum = "{{ 1";
  for (int i = 0; i < 2000; ++i) sum += " + 1";
  EXPECT_EQ(error_of(sum + " }}"), "scale/strided.inja:1:1: a tag of more than 4096 bytes");
}

TEST(TemplateGuard, ParserFaultsKeepTheirPlace) {
  EXPECT_EQ(error_of("x {{ tile + }}"), "scale/strided.inja:1:13: too few arguments");
  EXPECT_EQ(error_of("{{ }}"), "scale/strided.inja:1:4: an expression is missing here");
  EXPECT_EQ(error_of("{{ tile block }}"), "scale/strided.inja:1:15: malformed expression");
  EXPECT_EQ(error_of("{{ add(1 2) }}"), "scale/strided.inja:1:11: malformed expression");
}

TEST(TemplateGuard, RunawayTemplatesEnd) {
  EXPECT_EQ(error_of("## for i in range(65537)\n## endfor\n"),
            "scale/strided.inja:1:13: a list of more than 65536 values");
  EXPECT_EQ(
      error_of(
          "## for i in range(65536)\n## for j in range(65536)\n{{ i }}\n## endfor\n## endfor\n"),
      "scale/strided.inja:3:8: the template does not come to an end (500000 nodes)");
}

}  // namespace
}  // namespace kiln::test
