// Every variant of every built-in kernel gives the right result on an OpenCL device (the CPU, where
// PoCL is all there is): its default config on every problem, and a few random configs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/kernel_runs.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kRandomConfigs = 4;  // of each variant
constexpr std::uint64_t kSeed = 3;

TEST_P(KernelRuns, RightWithItsDefaults) {
  for (const Case& c : drawn_cases(default_cases(spec_, problems_to_run(spec_), device_->info())))
    run(c);
  expect_that_all_variants_ran();
}

TEST_P(KernelRuns, RightWithRandomConfigs) {
  for (const Case& c : drawn_cases(
           random_cases(spec_, problems_to_explore(spec_), device_->info(), kRandomConfigs, kSeed)))
    run(c);
  expect_that_all_variants_ran();
}

INSTANTIATE_TEST_SUITE_P(Each, KernelRuns, testing::ValuesIn(kernel_names()),
                         [](const testing::TestParamInfo<std::string>& each) {
                           return each.param;
                         });

}  // namespace
}  // namespace kiln::test
