// Values on the command line: what passes, and what the others are told.
// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(PositiveNumber, TakesEveryWayToWriteOne) {
  for (const char* text : {"1", "0.25", "1e3"}) EXPECT_EQ(positive_number()(text), "") << text;
  for (const char* text : {"0", "-1", "nan", "inf", "", "3x", "1e999"}) {
    EXPECT_EQ(positive_number()(text), std::string("must be a number above 0, not '") + text + "'");
  }
}

TEST(WholeNumber, NeverWrapsAround) {
  EXPECT_EQ(whole_number(1)("1"), "");
  EXPECT_EQ(whole_number(0)("0"), "");
  for (const char* text : {"0", "-1", "1.5", "99999999999999999999", "3x", ""}) {
    EXPECT_EQ(whole_number(1)(text),
              std::string("must be a whole number of 1 or more, not '") + text + "'");
  }
}

TEST(FileName, IsNeverEmpty) {
  EXPECT_EQ(file_name()("kiln.db"), "");
  EXPECT_EQ(file_name()(""), "must name a file, not ''");
  EXPECT_EQ(database_name()(""), "must name a file or a server, not ''");
  EXPECT_EQ(database_name()("kiln.db"), "");
  EXPECT_EQ(database_name()("postgresql://me@host/kiln"), "");
  EXPECT_EQ(database_name()("postgres://me:secret@host/kiln"),
            "postgres://me:***@host/kiln: holds a password, which other users of this machine can "
            "see; expected a URL without one, and the password in ~/.pgpass, a service file or "
            "PGPASSWORD");
}

TEST(StrategyName, ListsTheStrategiesAndGuessesTheOneMeant) {
  EXPECT_EQ(strategy_name()("random"), "");
  EXPECT_THAT(strategy_name()("rndom"),
              ::testing::StartsWith("there is no strategy 'rndom'; did you mean 'random'? (there "
                                    "are: auto, annealing, bandit, "));
}

}  // namespace
}  // namespace kiln::cli
