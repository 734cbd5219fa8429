// Call records: lines of one call are added up, and each line that is no record has a sentence.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/call_records.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lookup/lookup.hpp"

namespace kiln {
namespace {

std::string line(const std::string& grade, int launches) {
  return R"({"kernel":"reduce","problem":"n=1","device":"d","grade":")" + grade +
         R"(","config":"c","selections":1,"launches":)" + std::to_string(launches) +
         R"(,"recorded_at":"2026-01-01T00:00:00Z"})" + "\n";
}

TEST(CallRecords, EveryGradeIsReadByItsName) {
  for (const Grade grade : kGrades) {
    EXPECT_EQ(parse_grade(name_of(grade)), grade);
    EXPECT_EQ(read_calls(line(std::string(name_of(grade)), 2), "c").records.size(), 1U);
  }
  EXPECT_EQ(parse_grade("fallback"), std::nullopt);
}

TEST(CallRecords, LinesThatAreNoneAreNamedAndTheOthersAreAddedUp) {
  const CallList list =
      read_calls(line("exact", 2) + "\n" + line("near_sise", 1) + "{\n" + line("exact", 3), "c");
  ASSERT_EQ(list.records.size(), 1U);
  EXPECT_EQ(list.records.front().launches, 5);
  ASSERT_EQ(list.bad.size(), 2U);
  EXPECT_EQ(list.bad[0],
            "c:3: 'near_sise' is no grade; did you mean 'near_size'? (there are: exact, near_size, "
            "same_arch, same_vendor, default)");
  EXPECT_TRUE(list.bad[1].starts_with("c:4: ")) << list.bad[1];
}

}  // namespace
}  // namespace kiln
