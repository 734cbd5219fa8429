// SPDX-License-Identifier: Apache-2.0
#include "tests/templates/golden_file.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::test {
namespace {

const std::string kSum =
    "// sum\n"
    "int sum(int a) {\n"
    "  for (;;) {\n"
    "    a += 1;\n"
    "  }\n"
    "}\n"
    "\n"
    "int last(int a) {\n"
    "  return a;\n"
    "}\n";
const std::string kSumMark = "//= k/sum.cu, \"int sum(int a) {\" to \"}\" (3)\n";

std::string with_sum(const std::string& begin) { return begin + kSum.substr(kSum.find('\n') + 1); }

std::string mark_error(const std::string& stored) {
  try {
    whole_text("k/new.cu", {{"k/sum.cu", kSum}, {"k/new.cu", stored}});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(GoldenFile, LinesThatAnotherFileHoldsAreNamed) {
  const GoldenFiles files = {{"k/sum.cu", kSum}, {"k/new.cu", "// new\n" + kSumMark + "// end\n"}};
  EXPECT_EQ(shortened("k/new.cu", with_sum("// new\n") + "// end\n", {{"k/sum.cu", kSum}}),
            files.at("k/new.cu"));
  EXPECT_EQ(whole_text("k/new.cu", files), with_sum("// new\n") + "// end\n");
  EXPECT_EQ(whole_text("k/sum.cu", files), kSum);
}

TEST(GoldenFile, FewLinesStayWhereTheyStand) {
  const std::string text = "// new\nint last(int a) {\n  return a;\n}\n";
  EXPECT_EQ(shortened("k/new.cu", text, {{"k/sum.cu", kSum}}), text);
}

TEST(GoldenFile, LinesThatStandFurtherUpAreNamedToo) {
  const std::string stored = kSum + "//= k/sum.cu, \"int sum(int a) {\" to \"int last(int a) {\"\n";
  const std::string text = kSum + kSum.substr(7, kSum.find("  return") - 7);
  EXPECT_EQ(shortened("k/sum.cu", text, {}), stored);
  EXPECT_EQ(whole_text("k/sum.cu", {{"k/sum.cu", stored}}), text);
}

TEST(GoldenFile, MarksNameLinesOfWholeTexts) {
  const std::string text = "// more\n" + with_sum("// new\n");
  const std::string mark = "//= k/new.cu, \"// new\" to \"}\" (3)\n";
  EXPECT_EQ(shortened("k/more.cu", text, {{"k/new.cu", with_sum("// new\n")}}), "// more\n" + mark);
  EXPECT_EQ(whole_text("k/more.cu", {{"k/sum.cu", kSum},
                                     {"k/new.cu", "// new\n" + kSumMark},
                                     {"k/more.cu", "// more\n" + mark}}),
            text);
}

TEST(GoldenFile, AChangedLineChangesTheTextOfEachFileThatNamesIt) {
  std::string changed = kSum;
  changed.replace(changed.find("a += 1"), 6, "a += 2");
  EXPECT_NE(whole_text("k/new.cu", {{"k/sum.cu", changed}, {"k/new.cu", kSumMark}}), with_sum(""));
  EXPECT_EQ(whole_text("k/new.cu", {{"k/sum.cu", kSum}, {"k/new.cu", kSumMark}}), with_sum(""));
}

TEST(GoldenFile, AMarkThatNamesOtherLinesGivesAnotherText) {
  const GoldenFiles files = {{"k/sum.cu", kSum},
                             {"k/new.cu", "//= k/sum.cu, \"int sum(int a) {\" to \"}\" (2)\n"}};
  EXPECT_NE(whole_text("k/new.cu", files), with_sum(""));
}

TEST(GoldenFile, AMarkThatNamesNothingIsAnErrorWithItsPlace) {
  EXPECT_EQ(mark_error("// new\n//= k/gone.cu, \"a\" to \"b\"\n"),
            "k/new.cu:2: no golden file k/gone.cu: //= k/gone.cu, \"a\" to \"b\"; "
            "scripts/update_golden writes it anew");
  EXPECT_THAT(mark_error("//= k/sum.cu, \"int sun\" to \"}\"\n"),
              testing::HasSubstr("k/new.cu:1: its first line is not there"));
  EXPECT_THAT(mark_error("//= k/sum.cu, \"int sum\" to \"}\" (4)\n"),
              testing::HasSubstr("its last line is not there"));
  EXPECT_THAT(mark_error("//= k/sum.cu\n"), testing::HasSubstr("expected //= FILE"));
  EXPECT_THAT(mark_error("//= k/new.cu, \"int sum\" to \"}\"\n" + kSumMark),
              testing::HasSubstr("its first line is not there"));
}

}  // namespace
}  // namespace kiln::test
