// How sessions that run at the same time share the cores for their compilers.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/compile_slots.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Member = CompileSlots::Member;

std::size_t take_all(Member& member) {
  std::size_t taken = 0;
  while (member.take()) ++taken;
  return taken;
}

TEST(CompileSlots, OneSessionMayHaveThemAllWhileNoOtherAsks) {
  CompileSlots slots(4, 2);
  Member first(&slots);
  Member second(&slots);
  EXPECT_EQ(take_all(first), 4U);
  EXPECT_FALSE(second.take());
}

TEST(CompileSlots, WhatBecomesFreeGoesToTheSessionBelowItsShare) {
  CompileSlots slots(4, 2);
  Member first(&slots);
  Member second(&slots);
  ASSERT_EQ(take_all(first), 4U);
  ASSERT_FALSE(second.take());
  first.give_back();
  EXPECT_FALSE(first.take()) << "the second one waits";
  EXPECT_TRUE(second.take());
  first.give_back();
  EXPECT_TRUE(first.take()) << "nobody waits any more";
}

TEST(CompileSlots, WhoRestsDoesNotHoldUpOthers) {
  CompileSlots slots(2, 2);
  Member first(&slots);
  Member second(&slots);
  ASSERT_EQ(take_all(first), 2U);
  ASSERT_FALSE(second.take());
  second.rest();
  first.give_back();
  EXPECT_TRUE(first.take());
}

TEST(CompileSlots, OfASessionThatEndedAreFree) {
  CompileSlots slots(2, 2);
  Member first(&slots);
  {
    Member second(&slots);
    const bool taken = second.take();
    ASSERT_TRUE(taken);
    const CompileSlot slot(second);
  }
  EXPECT_EQ(take_all(first), 2U);
}

TEST(CompileSlots, WorkersOfASessionAreTwiceItsShareAtMost) {
  EXPECT_EQ(CompileSlots(120, 8).most_of_one(), 30U);
  EXPECT_EQ(CompileSlots(6, 2).most_of_one(), 6U);
  EXPECT_EQ(CompileSlots(1, 4).most_of_one(), 1U);
  EXPECT_EQ(CompileSlots(0, 4).count(), 1U);
}

TEST(CompileSlots, WithoutThemNothingIsLimited) {
  Member alone(nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(alone.take());
}

}  // namespace
}  // namespace kiln
