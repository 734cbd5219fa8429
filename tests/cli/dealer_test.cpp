// Which device gets which session of a sweep.
// SPDX-License-Identifier: Apache-2.0
#include "cli/dealer.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

using std::chrono::milliseconds;

std::vector<Dealer::Session> sessions(const std::vector<double>& lengths) {
  std::vector<Dealer::Session> made;
  for (const double length : lengths) made.push_back({"p" + std::to_string(made.size()), length});
  return made;
}

TEST(Dealer, HandsOutTheLongestFirstAndEachOnce) {
  Dealer dealer(sessions({10, 60, 60, 30}), 2);
  EXPECT_EQ(dealer.next(0), 1U);
  EXPECT_EQ(dealer.next(1), 2U) << "equal lengths: in the plan's order";
  dealer.done(0);
  EXPECT_EQ(dealer.next(0), 3U);
  dealer.done(1);
  EXPECT_EQ(dealer.next(1), 0U);
  dealer.done(0);
  dealer.done(1);
  EXPECT_EQ(dealer.next(0), std::nullopt);
  EXPECT_EQ(dealer.left(), 0U);
}

TEST(Dealer, ADeviceWaitsForASessionThatMayComeBack) {
  Dealer dealer(sessions({10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  std::optional<std::size_t> got;
  std::thread other([&] { got = dealer.next(1); });
  dealer.give_back(0, Dealer::Begun::no);
  other.join();
  EXPECT_EQ(got, 0U);
}

TEST(Dealer, ASessionThatADeviceHasBegunIsTakenUpByOthersLast) {
  Dealer dealer(sessions({60, 10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  dealer.give_back(0, Dealer::Begun::yes);
  EXPECT_EQ(dealer.next(1), 1U) << "the device may be back soon";
  dealer.done(1);
  EXPECT_EQ(dealer.next(1), 0U) << "nothing else is left";
}

TEST(Dealer, ASessionOfAnEarlierRunWaitsForItsDevice) {
  std::vector<Dealer::Session> begun = sessions({60, 10});
  begun[0].begun_by = 1;
  Dealer dealer(begun, 2);
  EXPECT_EQ(dealer.next(0), 1U);
  EXPECT_EQ(dealer.next(1), 0U);
}

TEST(Dealer, OfADeviceThatLeftEverythingIsOpenToAll) {
  std::vector<Dealer::Session> begun = sessions({60, 10});
  begun[0].begun_by = 1;
  Dealer dealer(begun, 2);
  dealer.leave(1);
  EXPECT_EQ(dealer.next(0), 0U);
}

TEST(Dealer, EqualSessionsNeverRunAtTheSameTime) {
  Dealer dealer({{"same", 10}, {"same", 10}, {"other", 1}}, 2);
  EXPECT_EQ(dealer.next(0), 0U);
  EXPECT_EQ(dealer.next(1), 2U);
  dealer.done(0);
  EXPECT_EQ(dealer.next(0), 1U);
}

TEST(Dealer, APauseEndsWhenNothingIsLeft) {
  Dealer dealer(sessions({10}), 2);
  EXPECT_TRUE(dealer.pause(1, milliseconds(1))) << "time is over: try the device again";
  ASSERT_EQ(dealer.next(0), 0U);
  bool goes_on = true;
  std::thread other([&] { goes_on = dealer.pause(1, std::chrono::minutes(5)); });
  dealer.done(0);
  other.join();
  EXPECT_FALSE(goes_on);
}

TEST(Dealer, AStopEndsAllWaiting) {
  Dealer dealer(sessions({10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  std::optional<std::size_t> got = 7;
  std::thread other([&] { got = dealer.next(1); });
  dealer.stop();
  other.join();
  EXPECT_EQ(got, std::nullopt);
  EXPECT_EQ(dealer.left(), 1U);
}

}  // namespace
}  // namespace kiln::cli
