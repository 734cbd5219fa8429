// Errors: where they point and which exit code they carry.
// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(SourceLocation, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 12, 18}), "spec.toml:12:18");
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 12, 0}), "spec.toml:12");
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 0, 0}), "spec.toml");
  EXPECT_EQ(to_text(SourceLocation{"", 3, 4}), "3:4");
  EXPECT_EQ(to_text(SourceLocation{}), "");
}

TEST(SourceLocation, DoesNotTakeAColumnForALine) {
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 0, 7}), "spec.toml");
}

TEST(InputError, StartsWithThePlace) {
  EXPECT_STREQ(InputError({"plan.toml", 2, 5}, "expected a kernel").what(),
               "plan.toml:2:5: expected a kernel");
  EXPECT_STREQ(InputError(SourceLocation{}, "expected a kernel").what(), "expected a kernel");
  EXPECT_STREQ(InputError("expected a kernel").what(), "expected a kernel");
}

TEST(Error, CarriesTheExitCodeOfItsKind) {
  EXPECT_EQ(static_cast<int>(UsageError("x").code()), 2);
  EXPECT_EQ(static_cast<int>(InputError("x").code()), 3);
  EXPECT_EQ(static_cast<int>(DeviceError("x").code()), 4);
  EXPECT_EQ(static_cast<int>(DatabaseError("x").code()), 5);
}

}  // namespace
}  // namespace kiln
