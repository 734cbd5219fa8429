// Medians and quantiles of few and many numbers.
// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Statistics, TheMedianIsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 4}), 4.5);
}

TEST(Statistics, AQuantileIsTheNearestRank) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  const std::vector<double> values = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.25), 3);
  EXPECT_EQ(quantile(values, 0.5), 5);
  EXPECT_EQ(quantile(values, 0.75), 8);
  EXPECT_EQ(quantile(values, 0.95), 10);
  EXPECT_EQ(quantile(values, 1), 10);
}

}  // namespace
}  // namespace kiln
