// Random conditions in Python syntax, counted by Python and by a space: they must agree.
//
// KILN_CONDITION_SEED chooses other conditions, KILN_CONDITIONS how many.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "interchange/described_space.hpp"
#include "search/space.hpp"

namespace kiln {
namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

std::string environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::string spaces_of_python() {
  const std::string command = fmt::format(
      "python3 {}/tests/interchange/python_conditions.py {} {}", KILN_SOURCE_DIR,
      environment("KILN_CONDITION_SEED", "20261126"), environment("KILN_CONDITIONS", "400"));
  const std::unique_ptr<std::FILE, ClosePipe> pipe(::popen(command.c_str(), "r"));
  std::string text;
  std::array<char, 65536> block{};
  for (std::size_t count = 1; pipe && count > 0; text.append(block.data(), count)) {
    count = std::fread(block.data(), 1, block.size(), pipe.get());
  }
  return text;
}

TEST(PythonConditions, HoldForAsManyCombinationsAsPythonCounts) {
  const std::vector<DescribedSpace> spaces =
      read_described_spaces(spaces_of_python(), "python_conditions.py");
  EXPECT_GE(spaces.size(), 100u);
  for (const DescribedSpace& space : spaces) {
    const SpaceReport report = explain_space(space.variant);
    ASSERT_TRUE(report.variants.front().exact);
    EXPECT_EQ(report.variants.front().configs, space.configs)
        << space.variant.constraints.front().require.text();
  }
}

}  // namespace
}  // namespace kiln
