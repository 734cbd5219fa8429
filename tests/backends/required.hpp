// KILN_TEST_REQUIRE, a list like "opencl,nvrtc,hiprtc": turns "not here: skipped" into a failure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace kiln {

/// Is `name` in KILN_TEST_REQUIRE?
[[nodiscard]] inline bool is_required(std::string_view name) {
  const char* list = std::getenv("KILN_TEST_REQUIRE");
  return list != nullptr &&
         ("," + std::string(list) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

/// Skips the test with a reason, or fails it when KILN_TEST_REQUIRE names what is missing.
#define KILN_SKIP_UNLESS_REQUIRED(name, reason)                                      \
  do {                                                                               \
    if (::kiln::is_required(name)) FAIL() << (name) << " is required: " << (reason); \
    GTEST_SKIP() << (reason);                                                        \
  } while (false)

}  // namespace kiln
