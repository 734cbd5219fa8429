// Statements and values as PostgreSQL reads them.
// SPDX-License-Identifier: Apache-2.0
#include "db/server/postgres_text.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(DollarText, NumbersWhatHasNoNumber) {
  EXPECT_EQ(with_dollar_placeholders("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(with_dollar_placeholders("a = ? AND b = ?").text, "a = $1 AND b = $2");
  EXPECT_EQ(with_dollar_placeholders("a = ? AND b = ?").parameters, 2);
}

TEST(DollarText, KeepsNumbersAndQuotedMarks) {
  const DollarText dollar = with_dollar_placeholders("?1 = '' OR a = ?1 OR b = ?12 OR c = '?'");
  EXPECT_EQ(dollar.text, "$1 = '' OR a = $1 OR b = $12 OR c = '?'");
  EXPECT_EQ(dollar.parameters, 12);
}

TEST(StorableText, ReplacesWhatAServerRefuses) {
  EXPECT_EQ(storable_text("plain, \u00fc"), "plain, \u00fc");
  EXPECT_EQ(storable_text(std::string("a\xff") + '\0' + "b"), "a\uFFFD\uFFFDb");
}

TEST(BytesFromHex, ReadsTheServersFormat) {
  EXPECT_EQ(bytes_from_hex("\\x"), "");
  EXPECT_EQ(bytes_from_hex("\\x0041ff"), std::string("\0A\xff", 3));
}

TEST(OneLine, JoinsLines) { EXPECT_EQ(one_line("FATAL:  no\n\tway.\n"), "FATAL: no way"); }

}  // namespace
}  // namespace kiln
