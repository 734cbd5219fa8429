// Text of strangers: nothing in it steers a terminal, and no password of a connection string stays.
// SPDX-License-Identifier: Apache-2.0
#include "core/shown_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace kiln
