// The kernels as AMD GPUs get them give the right results on the CPU, lane by lane
// (tests/support/hip_on_cpu): every variant with wavefronts of 64, and the variants for AMD's
// matrix units with the fragments of CDNA, RDNA 3 and RDNA 4.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "tests/kernels/kernel_runs.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kRandomConfigs = 3;  // of each variant
constexpr std::size_t kMatrixConfigs = 8;  // of the variants for matrix units
constexpr std::uint64_t kSeed = 5;

bool uses_matrix_units(const Case& c) {
  return c.config.variant == "mfma" || c.config.variant == "wmma";
}

std::vector<Case> only_on_matrix_units(std::vector<Case> cases) {
  std::erase_if(cases, [](const Case& c) { return !uses_matrix_units(c); });
  return cases;
}

/// Edges of tiles, steps that are not full, taps and paddings of every kind.
std::vector<Problem> matrix_problems(const KernelSpec& spec) {
  static const std::map<std::string, std::vector<std::string>> kTexts = {
      {"matmul",
       {"m=70 n=133 k=75 dtype=f16", "m=130 n=40 k=200 dtype=bf16 trans_a=true",
        "m=65 n=97 k=64 dtype=f16 trans_b=true beta_zero=false",
        "m=33 n=70 k=300 dtype=bf16 trans_a=true trans_b=true"}},
      {"convolution",
       {"h=10 w=11 fh=3 n=2 c=37 k=19 dtype=f16",
        "h=10 w=11 fh=3 n=2 c=37 k=19 dtype=bf16 layout=nhwc",
        "h=9 w=12 fh=5 stride=2 c=40 k=72 dtype=f16 layout=nhwc",
        "h=9 w=7 fh=1 n=3 c=16 k=130 dtype=bf16 layout=nhwc",
        "h=12 w=9 fh=3 fw=2 pad_h=0 pad_bottom=3 pad_w=2 pad_right=1 dilation=3 c=8 k=9 dtype=f16 "
        "layout=nhwc",
        "h=29 w=23 fh=7 stride=2 c=3 k=64 dtype=bf16",
        "h=8 w=13 fh=3 n=2 c=64 k=33 dtype=f16 layout=nhwc epilogue='max(x + bias, 0) + "
        "residual'"}}};
  std::vector<Problem> problems;
  for (const std::string& text : kTexts.at(spec.name))
    problems.push_back(Problem::parse(spec, text));
  return problems;
}

class KernelLanes : public KernelRuns {};
class MatrixLanes : public KernelRuns {};

TEST_P(KernelLanes, GiveTheRightResults) {
  const std::vector<Problem> problems = problems_to_explore(spec_);
  for (const Case& c :
       drawn_cases(random_cases(spec_, problems, device_->info(), kRandomConfigs, kSeed)))
    run(c);
  EXPECT_EQ(device_->info().warp_size, 64);
  expect_that_all_variants_ran();
}

TEST_P(MatrixLanes, GiveTheRightResults) {
  const std::vector<Problem> problems = matrix_problems(spec_);
  for (const Case& c :
       drawn_cases(only_on_matrix_units(default_cases(spec_, problems, device_->info()))))
    run(c);
  const std::vector<Case> random =
      only_on_matrix_units(random_cases(spec_, problems, device_->info(), kMatrixConfigs, kSeed));
  for (const Case& c : drawn_cases(random)) run(c);
  EXPECT_EQ(variants_.size(), 1);
  EXPECT_TRUE(std::any_of(random.begin(), random.end(), [](const Case& c) {
    return c.config.text().find("splits=1,") == std::string::npos;
  })) << "no config adds up parts of k";
}

/// The kernel of docs/dialect.md, by a C function as reference.
class ExampleMatrixLanes : public KernelRuns {
 protected:
  [[nodiscard]] std::string kernel() const override {
    return KILN_SOURCE_DIR "/examples/matrix_units";
  }
};

TEST_P(ExampleMatrixLanes, GiveTheRightResults) {
  const Problem problem = Problem::parse(spec_, GetParam());
  for (const char* config : {"matrix:fragments=1", "matrix:fragments=8", "naive"}) {
    run({problem, Setting(spec_, problem, device_->info()).parse(config)});
  }
}

const auto kName = [](const testing::TestParamInfo<std::string>& each) { return each.param; };
INSTANTIATE_TEST_SUITE_P(Each, KernelLanes, testing::ValuesIn(kernel_names()), kName);
INSTANTIATE_TEST_SUITE_P(Each, MatrixLanes, testing::Values("convolution", "matmul"), kName);
INSTANTIATE_TEST_SUITE_P(Each, ExampleMatrixLanes,
                         testing::Values("m=16 n=128 k=16", "m=37 n=70 k=88"));

}  // namespace
}  // namespace kiln::test
