// Outcomes: their names are stored, so they are pinned here word for word.
// SPDX-License-Identifier: Apache-2.0
#include "core/outcome.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Outcome, IsStoredUnderNamesThatNeverChange) {
  std::vector<std::string_view> names;
  for (const Outcome outcome : all_outcomes()) names.push_back(name_of(outcome));
  EXPECT_THAT(names, testing::ElementsAre("ok", "constraint", "compile_error", "compile_timeout",
                                          "compile_crash", "launch_error", "wrong_result",
                                          "run_timeout", "device_fault", "out_of_memory"));
}

TEST(Outcome, ComesBackFromItsName) {
  for (const Outcome outcome : all_outcomes()) EXPECT_EQ(parse_outcome(name_of(outcome)), outcome);
  EXPECT_EQ(parse_outcome("failed"), std::nullopt);
  EXPECT_EQ(parse_outcome(""), std::nullopt);
}

}  // namespace
}  // namespace kiln
