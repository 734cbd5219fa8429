// Lines of a given width: where a text may be broken, and where it must not.
// SPDX-License-Identifier: Apache-2.0
#include "cli/text_layout.hpp"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrapped, BreaksAtSpacesAndBehindTheItemsOfAConfig) {
  EXPECT_EQ(wrapped("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("tile:rows=32,cols=64", 13), (Lines{"tile:rows=32,", "cols=64"}));
  EXPECT_EQ(wrapped("", 8), Lines{""});
}

TEST(Wrapped, KeepsANumberWithItsUnitAndItsDigits) {
  EXPECT_EQ(wrapped("took 458 us", 9), (Lines{"took", "458 us"}));
  EXPECT_EQ(wrapped("of 1,234 all", 9), (Lines{"of", "1,234 all"}));
}

TEST(Wrapped, CutsAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrapped("abcdefghijkl", 10), (Lines{"abcdefghij", "kl"}));
}

// A cell may hold what a stranger's database does. Reading a line again for each part of it would
// take minutes here.
TEST(Wrapped, ALongTextIsReadOnce) {
  std::string words;
  for (int i = 0; i < 400'000; ++i) words += "t ";
  EXPECT_EQ(wrapped(words, words.size()).size(), 1U);
  EXPECT_EQ(wrapped(words, 10).size(), 80'000U);
  EXPECT_EQ(wrapped(std::string(2'000'000, 'x'), 10).size(), 200'000U);
  std::string codes;
  for (int i = 0; i < 400'000; ++i) codes += "\x1b[";
  EXPECT_EQ(columns_of(codes), 800'000U);
}

TEST(Packed, BreaksBetweenPiecesOnly) {
  EXPECT_EQ(packed({"units 2", "memory 18 GiB", "warp 1"}, 24),
            (Lines{"units 2, memory 18 GiB,", "warp 1"}));
}

TEST(Paragraph, HangsUnderItsFirstLine) {
  EXPECT_EQ(paragraph("kernel   a long and wide text", 20, 0, 9),
            "kernel   a long and\n         wide text\n");
  EXPECT_EQ(paragraph("any text", std::nullopt), "any text\n");
  EXPECT_EQ(paragraphs("error: two words\n  more of it", 15),
            "error: two\n  words\n  more of it\n");
}

TEST(Columns, CountNeitherColoursNorBytes) {
  EXPECT_EQ(columns_of("\x1b[00;32mbetter\x1b[00m"), 6U);
  EXPECT_EQ(columns_of("µs"), 2U);
  EXPECT_EQ(cut_to("twelve columns", 9), "twelve...");
  EXPECT_EQ(cut_to("nine", 9), "nine");
}

}  // namespace
}  // namespace kiln::cli
