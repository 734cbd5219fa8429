// How many samples there is time for.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/timing_options.hpp"

#include <gtest/gtest.h>

namespace kiln::peers {
namespace {

TEST(SampleCount, IsWhatIsAskedForWhereRoundsAreShort) {
  EXPECT_EQ(sample_count({50, 10, 5}, 0.001), 50);
  EXPECT_EQ(sample_count({50, 10, 5}, 0), 50);
}

TEST(SampleCount, ShrinksForLongRounds) {
  EXPECT_EQ(sample_count({50, 10, 5}, 0.3), 32);  // 33 rounds, made even
}

TEST(SampleCount, StaysAtTenAtLeast) { EXPECT_EQ(sample_count({50, 10, 5}, 60), 10); }

TEST(SampleCount, TakesFewerWhereFewerAreAskedFor) {
  EXPECT_EQ(sample_count({1, 10, 5}, 60), 1);
  EXPECT_EQ(sample_count({4, 10, 5}, 60), 4);
}

}  // namespace
}  // namespace kiln::peers
