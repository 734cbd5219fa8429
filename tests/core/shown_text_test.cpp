// Texts for others: a terminal, a shell, a reader who mistyped, the holes of a pattern.
// SPDX-License-Identifier: Apache-2.0
#include "core/shown_text.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/shell_word.hpp"
#include "core/suggest.hpp"
#include "core/text_pattern.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Text of strangers: nothing in it steers a terminal, and no password of a connection string stays.

TEST(ShownText, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(shown_text("plain, \"quoted\"\n\tand \xC2\xB5s"), "plain, \"quoted\"\n\tand \xC2\xB5s");
  EXPECT_EQ(shown_text("\x1b[31mred\x1b]0;title\x07"), "\\u001b[31mred\\u001b]0;title\\u0007");
  EXPECT_EQ(shown_text(std::string_view("\0\b\x7f", 3)), "\\u0000\\u0008\\u007f");
  EXPECT_EQ(shown_text("\xC2\x9b"
                       "2J"),
            "\\u009b2J")
      << "a control sequence in one character";
  EXPECT_EQ(shown_text("\xE2\x80\xAEkcart"), "\\u202ekcart") << "turns the direction";
  EXPECT_EQ(shown_text("\xff\xC2"), "\\xff\\xc2");
  EXPECT_EQ(shown_text("a\r\nb\rc"), "a\nb\\u000dc");
}

TEST(ShownText, KeepsKilnsOwnColours) {
  const std::string own = std::string(kOwnStyle) + ";32mgood" + std::string(kOwnStyle) + "m";
  EXPECT_EQ(shown_text(own), own);
  EXPECT_EQ(shown_text(std::string(kOwnStyle) + ";2J"), "\\u001b[00;2J");
}

TEST(ShownText, IsWhatEveryErrorSays) {
  EXPECT_STREQ(InputError("kernel '\x1b[2J'").what(), "kernel '\\u001b[2J'");
  EXPECT_STREQ(UsageError("postgresql://me:geheim@host/db is away").what(),
               "postgresql://me:***@host/db is away");
}

TEST(HiddenPasswords, AreHiddenInEverySpellingOfLibpq) {
  for (const char* text :
       {"postgresql://me:geheim@host/kiln", "postgres://:geheim@host", "postgresql://me:geheim@/db",
        "POSTGRESQL://me:geheim@host/kiln", "Postgres://me:ge%40geheim@a:1,b:2/kiln",
        "postgresql:///kiln?password=geheim", "postgresql://host/kiln?user=a&pass%77ord=geheim",
        "postgresql://host/kiln?%70%61%73%73%77%6F%72%64=geheim#x",
        "postgres://?sslpassword=geheim", "postgresql://h/d?oauth_client_secret=geheim",
        "host=h password=geheim dbname=d", "password = 'ge\\'h geheim' host=h",
        "host=h PASSWORD=geheim", "sslpassword=geheim",
        "cannot open 'postgresql://me:geheim@host/kiln': no"}) {
    EXPECT_THAT(hidden_passwords(text), Not(HasSubstr("geheim"))) << text;
    EXPECT_THAT(hidden_passwords(text), HasSubstr("***")) << text;
  }
}

TEST(HiddenPasswords, LeavesOtherTextAsItIs) {
  for (const char* text :
       {"postgresql://me@host:5433/kiln", "postgresql:///kiln?host=/run/postgresql",
        "postgresql://[::1]:5433/kiln?passfile=/home/me/pass", "the password of the server",
        "me:word@host.db", "put the right one into ~/.pgpass or PGPASSWORD"}) {
    EXPECT_EQ(hidden_passwords(text), text);
  }
}

// Words of a shell: what the shell makes of them is the text again.

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

// Hints for mistyped names: by case, by what others call a thing, by edits.

TEST(Hints, AreTheSameWordInOtherLetters) {
  EXPECT_EQ(nearest_name("M", {"m", "n", "k"}), "m");
  EXPECT_EQ(nearest_name("OpenCL", {"auto", "cuda", "opencl"}), "opencl");
  EXPECT_EQ(nearest_name("tile-m", {"tile_n", "tile_m"}), "tile_m");
  EXPECT_EQ(nearest_name("x", {"m", "n", "k"}), std::nullopt);
}

TEST(Hints, KnowWhatOthersCallThings) {
  EXPECT_EQ(nearest_name("float", {"f64", "f32"}), "f32");
  EXPECT_EQ(nearest_name("fp8", {"f32", "e4m3", "e5m2"}), "e4m3");
  EXPECT_EQ(nearest_name("int8", {"f32", "i8"}), "i8");
  EXPECT_EQ(nearest_name("GEMM", {"reduce", "matmul"}), "matmul");
  EXPECT_EQ(nearest_name("gemm", {"reduce", "transpose"}), std::nullopt) << "not known here";
}

TEST(Hints, AreNamesWithFewEdits) {
  EXPECT_EQ(nearest_name("--trial", {"--seconds", "--trials"}), "--trials");
  EXPECT_EQ(did_you_mean("reduze", {"reduce", "matmul"}), "; did you mean 'reduce'?");
  EXPECT_EQ(did_you_mean("nothing", {"reduce", "matmul"}), "");
}

TEST(Lists, NameEachItemOnce) {
  EXPECT_EQ(comma_list({"a", "b", "a", "c", "b"}), "a, b, c");
  EXPECT_EQ(comma_list({}), "");
}

// Texts with expressions in braces: kernel names and compiler options.

std::string error_of_pattern(const std::string& text) {
  return test::error_of<InputError>([&] { return TextPattern::parse(text, {"spec.toml", 7, 10}); });
}

TEST(TextPattern, FillsEveryHole) {
  Scope scope;
  scope.set("tile", std::int64_t{16});
  scope.set("padded", true);
  const TextPattern pattern = TextPattern::parse("conv<{tile * 2}, {padded}>");
  EXPECT_EQ(pattern.fill(scope), "conv<32, true>");
  EXPECT_EQ(pattern.head(), "conv<");
  EXPECT_EQ(pattern.text(), "conv<{tile * 2}, {padded}>");
  ASSERT_EQ(pattern.holes().size(), 2U);
  EXPECT_EQ(pattern.fill(scope, [](const Value&) { return std::string("x"); }), "conv<x, x>");
}

TEST(TextPattern, TakesDoubledBracesAndBracesInQuotes) {
  EXPECT_EQ(TextPattern::parse("a{{b}}").fill({}), "a{b}");
  EXPECT_FALSE(TextPattern::parse("a{{b}}").has_holes());
  EXPECT_EQ(TextPattern::parse("{'}' if true else '{'}").fill({}), "}");
}

TEST(TextPattern, SaysWhereABraceOrAnExpressionIsWrong) {
  EXPECT_EQ(error_of_pattern("ab{tile"),
            "spec.toml:7:12: the '{' here has no '}' (write '{{' for a brace of the text)");
  EXPECT_EQ(error_of_pattern("a}b"),
            "spec.toml:7:11: '}' without a '{' before it (write '}}' for a brace of the text)");
  EXPECT_THAT(error_of_pattern("a{1 +}"), testing::StartsWith("spec.toml:7:15: "));
  EXPECT_THAT(error_of_pattern("a{}"), testing::StartsWith("spec.toml:7:12: "));
}

}  // namespace
}  // namespace kiln
