// Units for people: three digits, and the unit that suits.
// SPDX-License-Identifier: Apache-2.0
#include "cli/units.hpp"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(PrettyTime, PicksTheUnitThatLeavesThreeDigits) {
  EXPECT_EQ(pretty_time(0), "0.00 ns");
  EXPECT_EQ(pretty_time(812), "812 ns");
  EXPECT_EQ(pretty_time(27'460), "27.5 us");
  EXPECT_EQ(pretty_time(1'940'000), "1.94 ms");
  EXPECT_EQ(pretty_time(2.31e9), "2.31 s");
  EXPECT_EQ(pretty_time(4321e9), "4321 s");
}

TEST(PrettyTime, NeverRoundsUpToAFourthDigit) {
  EXPECT_EQ(pretty_time(9.996), "10.0 ns");
  EXPECT_EQ(pretty_time(99.97), "100 ns");
  EXPECT_EQ(pretty_time(999.6), "1.00 us");
  EXPECT_EQ(pretty_time(999'499), "999 us");
}

TEST(PrettyBytes, CountsInPowersOfTwo) {
  EXPECT_EQ(pretty_bytes(1023), "1023 B");
  EXPECT_EQ(pretty_bytes(49152), "48 KiB");
  EXPECT_EQ(pretty_bytes(139.5 * 1024 * 1024 * 1024), "139.5 GiB");
}

TEST(PrettyRate, TellsOperationsWhereTheyAreTheLimit) {
  EXPECT_EQ(pretty_rate(8e6, 0, 2000), "4.00 TB/s");
  EXPECT_EQ(pretty_rate(800, 400, 19'444), "41.1 MB/s");
  EXPECT_EQ(pretty_rate(1e6, 1e9, 25'000), "40.0 TFLOP/s");
  EXPECT_EQ(pretty_rate(1e6, 4e6, 1000), "1.00 TB/s") << "four operations a byte are not yet more";
  EXPECT_EQ(pretty_rate(0, 1e3, 1e6), "1.00 MFLOP/s");
}

TEST(PrettyRate, IsADashWithoutCostOrTime) {
  EXPECT_EQ(pretty_rate(0, 0, 1000), "-");
  EXPECT_EQ(pretty_rate(1000, 0, 0), "-");
}

TEST(PrettyDuration, CountsSecondsMinutesHours) {
  EXPECT_EQ(pretty_duration(5.4), "0:05");
  EXPECT_EQ(pretty_duration(65), "1:05");
  EXPECT_EQ(pretty_duration(7390), "2:03:10");
  EXPECT_EQ(pretty_duration(-3), "0:00");
}

TEST(PrettySpeedup, HasThreeDigitsToo) {
  EXPECT_EQ(pretty_speedup(100, 100), "1.00x");
  EXPECT_EQ(pretty_speedup(1234, 100), "12.3x");
  EXPECT_EQ(pretty_speedup(0, 100), "-");
  EXPECT_EQ(pretty_speedup(100, 0), "-");
}

TEST(Counted, KnowsTheSingular) {
  EXPECT_EQ(counted(0, "trial"), "0 trials");
  EXPECT_EQ(counted(1, "trial"), "1 trial");
  EXPECT_EQ(counted(2, "trial"), "2 trials");
}

}  // namespace
}  // namespace kiln::cli
