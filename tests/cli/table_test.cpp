// Tables: alignment, code points, fitting a terminal.
// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

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

}  // namespace
}  // namespace kiln::cli
