// Golden files: what a test compares a text with, and writes anew when asked to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace kiln::test {

inline std::filesystem::path golden_folder() {
  return std::filesystem::path(KILN_SOURCE_DIR) / "tests/templates/golden";
}

/// Compares with tests/templates/golden/<name>; with KILN_UPDATE_GOLDEN (scripts/update_golden)
/// writes it instead.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = golden_folder() / name;
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "golden/" << name
                                  << " differs; scripts/update_golden writes it anew";
}

}  // namespace kiln::test
