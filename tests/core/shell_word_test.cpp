// Words of a shell: what the shell makes of them is the text again.
// SPDX-License-Identifier: Apache-2.0
#include "core/shell_word.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string as_a_shell_reads(const std::string& word) {
  std::FILE* shell = ::popen(("printf %s " + word).c_str(), "r");
  std::string text;
  std::array<char, 256> part{};
  while (shell != nullptr && std::fgets(part.data(), part.size(), shell) != nullptr) {
    text += part.data();
  }
  if (shell != nullptr) ::pclose(shell);
  return text;
}

TEST(ShellWordTest, IsTheTextAgain) {
  for (const std::string text : {"plain", "", "two words", "it's", "$HOME", "a;b", "`ls`", "\"",
                                 "\\", "*", "--x=1,2", "~"}) {
    EXPECT_EQ(as_a_shell_reads(shell_word(text)), text);
    EXPECT_EQ(as_a_shell_reads(shell_quoted(text)), text);
  }
}

TEST(ShellWordTest, HasNoQuotesThatNobodyNeeds) {
  EXPECT_EQ(shell_word("--db=/data/kiln.db"), "--db=/data/kiln.db");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_quoted("plain"), "'plain'");
}

}  // namespace
}  // namespace kiln
