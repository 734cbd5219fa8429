// What a call says when it refuses: tests pin the texts of errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>

#include "core/errors.hpp"

namespace kiln::test {

/// The message of the `Expected` that `work` throws; `otherwise` if it throws nothing. Any other
/// exception ends the test.
template <typename Expected = Error, std::invocable Work>
std::string error_of(const Work& work, const std::string& otherwise = "") {
  try {
    work();
  } catch (const Expected& error) {
    return error.what();
  }
  return otherwise;
}

}  // namespace kiln::test
