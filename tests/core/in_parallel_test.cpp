// Long loops on all cores: every element once, and the first fault of all.
// SPDX-License-Identifier: Apache-2.0
#include "core/in_parallel.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

TEST(InParallel, CallsForEachElementOnce) {
  for (const std::size_t count : {0, 1, 1000, 65'536, 1'000'003}) {
    std::vector<int> calls(count);
    in_parallel(count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ++calls[i];
    });
    EXPECT_TRUE(std::ranges::all_of(calls, [](int each) { return each == 1; })) << count;
  }
}

TEST(InParallel, ThrowsWhatTheLowestRangeThrew) {
  const auto first_fault_from = [](std::size_t first_bad) -> std::string {
    return test::error_of<std::runtime_error>(
        [&] {
          in_parallel(1'000'000, [&](std::size_t first, std::size_t last) {
            const std::size_t bad = std::max(first, first_bad);
            if (bad < last) throw std::runtime_error(std::to_string(bad));
          });
        },
        "none");
  };
  for (const std::size_t bad : {0, 17, 700'000, 999'999}) {
    EXPECT_EQ(first_fault_from(bad), std::to_string(bad));
  }
  EXPECT_EQ(first_fault_from(1'000'000), "none");
}

}  // namespace
}  // namespace kiln
