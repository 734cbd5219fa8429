// Scope: names and their values.
// SPDX-License-Identifier: Apache-2.0
#include "core/scope.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Scope, FindsWhatWasSetLast) {
  Scope scope;
  scope.set("tile", std::int64_t{32});
  scope.set("tile", std::string("wide"));
  ASSERT_NE(scope.find("tile"), nullptr);
  EXPECT_EQ(*scope.find("tile"), Value(std::string("wide")));
  EXPECT_EQ(scope.values().size(), 1U);
}

TEST(Scope, HasNoValueForOtherNames) {
  Scope scope;
  scope.set("device.warp_size", std::int64_t{32});
  EXPECT_EQ(scope.find("device"), nullptr);
  scope.erase("device.warp_size");
  EXPECT_EQ(scope.find("device.warp_size"), nullptr);
  scope.erase("device.warp_size");  // erasing what is not there changes nothing
  EXPECT_TRUE(scope.values().empty());
}

TEST(Scope, ListsNamesInOrder) {
  Scope scope;
  for (const char* name : {"n", "block", "m"}) scope.set(name, true);
  std::string names;
  for (const auto& [name, value] : scope.values()) names += name + " ";
  EXPECT_EQ(names, "block m n ");
}

}  // namespace
}  // namespace kiln
