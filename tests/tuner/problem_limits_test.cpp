// Problems that no config can run are known before anything is tried.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/problem_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "spec/parse_spec.hpp"

namespace kiln {
namespace {

constexpr const char* kLimitedSpec = R"(
name = "tiny"
summary = "y = x"
[problem.n]
type = "int"
[[arguments]]
name = "x"
access = "read"
dtype = "f32"
shape = ["n"]
[[arguments]]
name = "y"
access = "write"
dtype = "u8"
shape = ["n"]
[[arguments]]
name = "n"
access = "scalar"
dtype = "TYPE"
value = "n"
[verify]
formulas = { y = "x" }
[[variants]]
name = "v"
summary = "s"
template = "v.inja"
[[variants.steps]]
entry = "k"
grid = [1]
block = [1]
arguments = ["x", "y", "n"]
)";

std::string fault(const std::string& type, const std::string& problem) {
  std::string text = kLimitedSpec;
  text.replace(text.find("TYPE"), 4, type);
  const KernelSpec spec = parse_spec(text, "spec.toml");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Status fits = check_problem_fits({spec, Problem::parse(spec, problem), device});
  return fits ? "" : fits.failure().message;
}

TEST(ProblemLimits, HoldWhatFits) {
  EXPECT_EQ(fault("i32", "n=1e6"), "");
  EXPECT_EQ(fault("i64", "n=1e10"), "");
}

TEST(ProblemLimits, NameAScalarThatItsTypeCannotHold) {
  EXPECT_EQ(fault("i32", "n=3e9"), "scalar 'n' = 3000000000 does not fit in i32");
}

TEST(ProblemLimits, NameTheMemoryThatIsMissing) {
  EXPECT_THAT(fault("i64", "n=2.4e12"),
              ::testing::MatchesRegex("needs 12 TB for its arguments \\(9.6 TB for 'x'\\), the "
                                      "device has [0-9.]+ GB"));
  EXPECT_EQ(fault("i64", "n=4e18"), "'x' is too large: its size in bytes exceeds 2^63");
}

TEST(ProblemLimits, NameANegativeShape) {
  EXPECT_THAT(fault("i64", "n=-4"), ::testing::HasSubstr("negative number of elements"));
}

}  // namespace
}  // namespace kiln
