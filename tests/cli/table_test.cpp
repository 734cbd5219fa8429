// Tables, units and lines of text.
// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <gtest/gtest.h>

#include "cli/text_layout.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

using Lines = std::vector<std::string>;

// Tables: alignment, code points, fitting a terminal.

TEST(Table, AlignsColumnsUnderTheirHeadings) {
  Table table({{"kernel"}, {"time", Table::Align::right}});
  table.add_row({"reduce", "12.5 us"});
  table.add_row({"mm", "3 ms"});
  EXPECT_EQ(table.text(),
            "kernel     time\n"
            "------  -------\n"
            "reduce  12.5 us\n"
            "mm         3 ms\n");
}

TEST(Table, LeavesNoSpaceAtTheEndOfALine) {
  Table table({{"kernel"}, {"verdict"}});
  table.add_row({"reduce", ""});
  EXPECT_EQ(table.text(), "kernel  verdict\n------  -------\nreduce\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"unit"}, {"value", Table::Align::right}});
  table.add_row({"µs", "×1"});
  EXPECT_EQ(table.text(),
            "unit  value\n"
            "----  -----\n"
            "µs       ×1\n");
}

TEST(Table, WrapsTheLastColumnToTheWidthOfATerminal) {
  Table table({{"k"}, {"summary"}});
  table.add_row({"µ", "sum of µ over all elements of a matrix"});
  EXPECT_EQ(table.text(30),
            "k  summary\n"
            "-  ---------------------------\n"
            "µ  sum of µ over all elements\n"
            "   of a matrix\n");
  EXPECT_EQ(table.text(60), table.text()) << "wide enough";
}

TEST(Table, IsABlockARowWhereTheLastColumnHasNoRoom) {
  Table table(
      {{"device"}, {"units", Table::Align::right}, {"memory", Table::Align::right}, {"driver"}});
  table.add_row({"cuda:0", "132", "139 GiB", "580.10"});
  table.add_row({"opencl:0", "2", "-", "3.1+debian"});
  EXPECT_EQ(table.text(28),
            "device cuda:0\n"
            "  units 132, memory 139 GiB,\n"
            "  driver 580.10\n"
            "device opencl:0\n"
            "  units 2, driver 3.1+debian\n");
}

TEST(Table, PutsNotesUnderTheirRow) {
  Table table({{"kernel"}, {"best", Table::Align::right}});
  table.add_row({"reduce", "6.08 us"}, {"tree:block_size=256,items=4"});
  EXPECT_EQ(table.text(),
            "kernel     best\n"
            "------  -------\n"
            "reduce  6.08 us\n"
            "  tree:block_size=256,items=4\n");
  EXPECT_EQ(table.text(26),
            "kernel     best\n"
            "------  -------\n"
            "reduce  6.08 us\n"
            "  tree:block_size=256,\n"
            "    items=4\n");
}

TEST(Table, IsEmptyUntilARowComes) {
  Table table({{"kernel"}});
  EXPECT_TRUE(table.empty());
  table.add_row({"reduce"});
  EXPECT_FALSE(table.empty());
}

TEST(FirstLine, LeavesTheLogOfACompilerOut) {
  EXPECT_EQ(first_line("error at line 3\nnote: here"), "error at line 3");
  EXPECT_EQ(first_line("one line"), "one line");
  EXPECT_EQ(first_line(""), "");
}

// Lines of a given width: where a text may be broken, and where it must not.

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

// Units for people: three digits, and the unit that suits.

TEST(PrettyTime, PicksTheUnitThatLeavesThreeDigits) {
  EXPECT_EQ(pretty_time(0), "0.00 ns");
  EXPECT_EQ(pretty_time(812), "812 ns");
  EXPECT_EQ(pretty_time(27'460), "27.5 us");
  EXPECT_EQ(pretty_time(1'940'000), "1.94 ms");
  EXPECT_EQ(pretty_time(2.31e9), "2.31 s");
  EXPECT_EQ(pretty_time(4321e9), "4321 s");
}

TEST(PrettyTime, NeverRoundsUpToAFourthDigit) {
  EXPECT_EQ(pretty_time(9.996), "10.0 ns");
  EXPECT_EQ(pretty_time(99.97), "100 ns");
  EXPECT_EQ(pretty_time(999.6), "1.00 us");
  EXPECT_EQ(pretty_time(999'499), "999 us");
}

TEST(PrettyBytes, CountsInPowersOfTwo) {
  EXPECT_EQ(pretty_bytes(1023), "1023 B");
  EXPECT_EQ(pretty_bytes(49152), "48 KiB");
  EXPECT_EQ(pretty_bytes(139.5 * 1024 * 1024 * 1024), "139.5 GiB");
}

TEST(PrettyRate, TellsOperationsWhereTheyAreTheLimit) {
  EXPECT_EQ(pretty_rate(8e6, 0, 2000), "4.00 TB/s");
  EXPECT_EQ(pretty_rate(800, 400, 19'444), "41.1 MB/s");
  EXPECT_EQ(pretty_rate(1e6, 1e9, 25'000), "40.0 TFLOP/s");
  EXPECT_EQ(pretty_rate(1e6, 4e6, 1000), "1.00 TB/s") << "four operations a byte are not yet more";
  EXPECT_EQ(pretty_rate(0, 1e3, 1e6), "1.00 MFLOP/s");
}

TEST(PrettyRate, IsADashWithoutCostOrTime) {
  EXPECT_EQ(pretty_rate(0, 0, 1000), "-");
  EXPECT_EQ(pretty_rate(1000, 0, 0), "-");
}

TEST(PrettyDuration, CountsSecondsMinutesHours) {
  EXPECT_EQ(pretty_duration(5.4), "0:05");
  EXPECT_EQ(pretty_duration(65), "1:05");
  EXPECT_EQ(pretty_duration(7390), "2:03:10");
  EXPECT_EQ(pretty_duration(-3), "0:00");
}

TEST(PrettySpeedup, HasThreeDigitsToo) {
  EXPECT_EQ(pretty_speedup(100, 100), "1.00x");
  EXPECT_EQ(pretty_speedup(1234, 100), "12.3x");
  EXPECT_EQ(pretty_speedup(0, 100), "-");
  EXPECT_EQ(pretty_speedup(100, 0), "-");
}

TEST(Counted, KnowsTheSingular) {
  EXPECT_EQ(counted(0, "trial"), "0 trials");
  EXPECT_EQ(counted(1, "trial"), "1 trial");
  EXPECT_EQ(counted(2, "trial"), "2 trials");
}

}  // namespace
}  // namespace kiln::cli
