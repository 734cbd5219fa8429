// Tables: alignment, code points, cutting to a terminal.
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

TEST(Table, CutsLinesToTheWidthOfATerminal) {
  Table table({{"k"}, {"summary"}});
  table.add_row({"µ", "sum of µ over all elements"});
  EXPECT_EQ(table.text(14),
            "k  summary\n"
            "-  --------...\n"
            "µ  sum of µ...\n");
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
