// Options of a session, read from and written to their text.
// SPDX-License-Identifier: Apache-2.0
#include "db/session_options.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr const char* kText = "cache=cold cache_x=1 objective=energy imported launches=a:1,b:2";

TEST(SessionOptions, AreFoundByTheirWholeName) {
  EXPECT_EQ(find_option(kText, "cache"), "cold");
  EXPECT_EQ(find_option(kText, "cache_x"), "1");
  EXPECT_EQ(find_option(kText, "launches"), "a:1,b:2");
  EXPECT_EQ(find_option(kText, "imported"), "") << "an option without a value";
  EXPECT_EQ(find_option(kText, "cach"), std::nullopt);
  EXPECT_EQ(find_option(kText, "energy"), std::nullopt);
  EXPECT_EQ(find_option("", "cache"), std::nullopt);
  EXPECT_EQ(find_option("  cache=warm ", "cache"), "warm");
}

TEST(SessionOptions, AreAppendedInOrder) {
  std::string text;
  add_option(text, session_option::kCache, "cold");
  add_option(text, session_option::kImported);
  add_option(text, session_option::kObjective, "energy");
  EXPECT_EQ(text, "cache=cold imported objective=energy");
}

TEST(SessionOptions, AreLeftOutWhereverTheyStand) {
  EXPECT_EQ(without_option(kText, "cache"), "cache_x=1 objective=energy imported launches=a:1,b:2");
  EXPECT_EQ(without_option(kText, "imported"),
            "cache=cold cache_x=1 objective=energy launches=a:1,b:2");
  EXPECT_EQ(without_option(kText, "launches"), "cache=cold cache_x=1 objective=energy imported");
  EXPECT_EQ(without_option(kText, "timing"), kText);
  EXPECT_EQ(without_option("imported", "imported"), "");
}

}  // namespace
}  // namespace kiln
