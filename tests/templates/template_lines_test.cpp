// Which line breaks a tag takes along.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

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

}  // namespace
}  // namespace kiln::test
