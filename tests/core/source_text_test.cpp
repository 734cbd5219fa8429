// What Kiln reads in the text of a plain source.
// SPDX-License-Identifier: Apache-2.0
#include "core/source_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/source_value.hpp"

namespace kiln {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const Directive& directive : directives_of(text)) {
    lines.push_back(std::to_string(directive.line) + " " + directive.word + "|" + directive.rest);
  }
  return lines;
}

TEST(SourceText, FindsDirectivesOutsideComments) {
  EXPECT_THAT(lines_of("#define A 1 // one\n"
                       "/* #define B\n#define C */ # define D /* x */ 2\n"
                       "int x; #define E\n"
                       "const char* s = \"\\\"#define F\n\";\n"
                       "// #define G \\\n#define H\n"
                       "  #ifndef I\n"
                       "#define J(x) \\\n  x\n#endif"),
              ElementsAre("1 define|A 1", "3 define|D   2", "9 ifndef|I", "10 define|J(x)   x",
                          "12 endif|"));
}

TEST(SourceText, KnowsTheBytesOfADirective) {
  const std::string text = "int a;\n  #define A \\\n 1\nint b;\n";
  const std::vector<Directive> directives = directives_of(text);
  ASSERT_EQ(directives.size(), 1U);
  EXPECT_EQ(text.substr(directives[0].begin, directives[0].end - directives[0].begin),
            "  #define A \\\n 1");
  EXPECT_EQ(macro_of(directives[0]), "A");
}

TEST(SourceText, IsTheSameWithoutItsComments) {
  EXPECT_EQ(without_comments("// head\n\n  int a;  // one\n\n\nint /* two\n */ b;\n"),
            "int a;\nint b;\n");
  EXPECT_EQ(without_comments("\tif (a) {\n\t\tb  =\tc;\n}"), "if (a) {\nb = c;\n}\n");
  EXPECT_EQ(without_comments("a/**/b"), "a b\n") << "two words";
  EXPECT_EQ(without_comments("a // joined \\\n still a comment\nb"), "a\nb\n");
  EXPECT_EQ(without_comments("/* never closed"), "");
  EXPECT_NE(without_comments("#define A b \\\n\nint c;\n"),
            without_comments("#define A b \\\nint c;\n"))
      << "the empty line ends the macro";
  EXPECT_EQ(without_comments("#define A\\\n  (b)\n"), "#define A\\\n (b)\n")
      << "a macro without parameters";
}

TEST(SourceText, KeepsWhatOnlyLooksLikeAComment) {
  for (const char* text :
       {"s = \"http://x\";\n", "c = '\"'; d = \"/*\";\n", "n = 1'000'000; // 2\n",
        "p = L'\"'; q = \"// not\";\n", "s = \"\\\"// inside\";\n"}) {
    const std::string kept = without_comments(text);
    EXPECT_EQ(kept, std::string(text).substr(0, std::string(text).find("; // 2")) +
                        (std::string(text).find("; // 2") == std::string::npos ? "" : ";\n"))
        << text;
  }
  const std::string raw = "s = R\"x(\n // kept  \n\n)\" )x\"; // gone\n";
  EXPECT_EQ(without_comments(raw), "s = R\"x(\n // kept  \n\n)\" )x\";\n");
}

TEST(SourceText, NamesIdentifiersOutsideComments) {
  const std::set<std::string> names = identifiers_of("f(A+b_1) // C\n/* D */ E");
  EXPECT_THAT(names, testing::IsSupersetOf({"f", "A", "b_1", "E"}));
  EXPECT_THAT(names, Not(Contains("C")));
  EXPECT_THAT(names, Not(Contains("D")));
}

TEST(SourceText, IncludesStayInTheFolder) {
  const auto candidates = [](const std::string& line, const std::string& from = "a/k.cu") {
    return include_candidates(directives_of(line).at(0), from, {"inc", "."});
  };
  EXPECT_THAT(candidates("#include \"x.h\""), ElementsAre("a/x.h", "inc/x.h", "x.h"));
  EXPECT_THAT(candidates("#include <x.h>"), ElementsAre("inc/x.h", "x.h"));
  EXPECT_THAT(candidates("#include \"../x.h\""), ElementsAre("x.h", "x.h"));
  EXPECT_THAT(candidates("#include \"../../x.h\""), IsEmpty());
  EXPECT_THAT(candidates("#include \"/etc/passwd\""), IsEmpty());
  EXPECT_THAT(candidates("#include NAME"), IsEmpty());
  EXPECT_THAT(candidates("#define NAME \"x.h\""), IsEmpty());
  EXPECT_THAT(candidates("#include \""), IsEmpty());
}

TEST(SourceText, PathsStayInTheFolder) {
  EXPECT_EQ(path_inside("a/../b/./k.cu"), "b/k.cu");
  for (const char* path : {"", ".", "..", "../k.cu", "a/../../k.cu", "/k.cu", "a\\k.cu", "a\nb"}) {
    EXPECT_EQ(path_inside(path), "") << path;
  }
}

TEST(SourceText, FollowsIncludesInCircles) {
  const SourceFiles all = {{"k.cu", "#include \"a.h\"\n"},
                           {"a.h", "#include \"b.h\"\n"},
                           {"b.h", "#include \"a.h\"\n"},
                           {"c.h", ""}};
  EXPECT_THAT(included_files(all, "k.cu", {}), ElementsAre(Key("a.h"), Key("b.h"), Key("k.cu")));
  EXPECT_THAT(included_files(all, "none.cu", {}), IsEmpty());
}

TEST(SourceValue, ElementTypesArriveAsTheLanguageNamesThem) {
  EXPECT_EQ(source_argument(std::string("f32"), "cuda"), "float");
  EXPECT_EQ(source_argument(std::string("u8"), "opencl"), "uchar");
  EXPECT_EQ(source_argument(std::string("row"), "cuda"), "row");
  EXPECT_EQ(source_argument(true, "cuda"), "true");
  EXPECT_EQ(source_macro(true, "opencl"), "1");
  EXPECT_EQ(source_macro(0.5, "opencl"), "0.5");
  EXPECT_THROW((void)source_argument(std::string("bf16"), "opencl"), InputError);
}

}  // namespace
}  // namespace kiln
