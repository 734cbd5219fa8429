// What kernels take of AMD devices, from their code objects: the default config of every variant;
// with KILN_SOAK=1 in every element type, and three configs more, which are drawn. Prints one line
// each; nothing runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "backends/hip/code_object.hpp"
#include "core/errors.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/disassembly.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::test {
namespace {

// On a push each kernel has one of them, by turns.
const std::array<std::string, 3> kArchitectures = {"gfx90a", "gfx942", "gfx1100"};
constexpr std::size_t kDrawn = 3;  // configs of each variant beside its default
constexpr std::uint64_t kResourceSeed = 7;

/// Scalar registers that a default config may spill. They go to lanes of vector registers, not to
/// memory. hipRTC 5.2 spills two in "shifted" of transpose, whose loads each have a mask of lanes,
/// and 36 in "sums" of preprocess, which keeps many sizes of an image; hipRTC 6.4 spills 28 there,
/// and two in "ticket" of reduce where a formula divides the index of each element.
std::int64_t most_scalar_spills(const Case& c) {
  const std::string& variant = c.config.variant;
  if (variant == "ticket") return c.problem.text().find("i / n") == std::string::npos ? 0 : 2;
  return variant == "shifted" ? 2 : variant == "sums" ? 36 : 0;
}

/// The first case of each variant.
std::vector<Case> one_of_each_variant(std::vector<Case> cases) {
  std::set<std::string> seen;
  std::erase_if(cases, [&](const Case& c) { return !seen.insert(c.config.variant).second; });
  return cases;
}

using KernelAndArchitecture = std::tuple<std::string, std::string>;

class ResourceTable : public testing::TestWithParam<KernelAndArchitecture> {
 protected:
  void SetUp() override {
    const auto& [kernel, architecture] = GetParam();
    if (std::getenv("KILN_TEST_HIP6") == nullptr) GTEST_SKIP() << "done by kernels_hip6";
    const auto place = static_cast<std::size_t>(std::ranges::find(kernel_names(), kernel) -
                                                kernel_names().begin());
    if (part_of_lists() > 1 &&
        architecture != kArchitectures[turn_of(kArchitectures.size(), place)])
      GTEST_SKIP() << "left to other commits, which draw this architecture";
    spec_ = KernelLibrary().load(kernel);
    device_ = device_for_architecture("hip", architecture);
    try {
      compiler_ = make_backend("hip")->open_compiler(device_);
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED("hiprtc6", error.what());
    }
  }

  /// The compiled kernels of a case; none when it does not compile.
  std::vector<KernelResources> compile(const Case& c) {
    const Result<Binary> binary =
        compiler_->compile(Renderer(spec_).render({spec_, c.problem, device_}, c.config));
    EXPECT_TRUE(binary) << c.text(spec_) << ": " << binary.failure().message;
    if (!binary) return {};
    matrix_ = matrix_instructions(count_instructions(binary->data, device_.architecture));
    return kernels_of_code_object(binary->data);
  }

  void print(const Case& c, const KernelResources& kernel, const char* kind) const {
    std::printf("%s | %s | %s | %s | %s | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %d\n",
                device_.architecture.c_str(), kind, c.problem.short_text(spec_).c_str(),
                c.config.text().c_str(), kernel.name.c_str(),
                static_cast<long long>(kernel.vector_registers),
                static_cast<long long>(kernel.accumulators),
                static_cast<long long>(kernel.scalar_registers),
                static_cast<long long>(kernel.spilled_vector_registers),
                static_cast<long long>(kernel.spilled_scalar_registers),
                static_cast<long long>(kernel.scratch_bytes),
                static_cast<long long>(kernel.shared_bytes), matrix_);
  }

  [[nodiscard]] static bool uses_matrix_units(const Case& c) {
    return c.config.variant == "mfma" || c.config.variant == "wmma";
  }

  KernelSpec spec_;
  DeviceInfo device_;
  std::unique_ptr<Compiler> compiler_;
  int matrix_ = 0;  ///< matrix instructions of the case compiled last
};

TEST_P(ResourceTable, OfDefaultsDoNotSpillAndMatrixUnitsAreUsed) {
  const std::vector<Problem> problems = problems_to_compile(spec_);
  std::vector<Case> defaults =
      one_of_each_type(spec_, default_cases(spec_, problems, device_), kResourceSeed);
  if (!is_soak()) defaults = one_of_each_variant(std::move(defaults));
  ASSERT_FALSE(defaults.empty());
  std::printf(
      "architecture | config | problem | config | kernel | VGPRs | AGPRs | SGPRs | "
      "spilled | spilled SGPRs | scratch | LDS | matrix instructions\n");
  for (const Case& c : defaults) {
    const auto kernels = compile(c);
    ASSERT_FALSE(kernels.empty()) << c.text(spec_);
    for (const KernelResources& kernel : kernels) {
      print(c, kernel, "default");
      EXPECT_EQ(kernel.wavefront, device_.warp_size) << c.text(spec_);
      EXPECT_EQ(kernel.spilled_vector_registers, 0) << c.text(spec_);
      EXPECT_EQ(kernel.scratch_bytes, 0) << c.text(spec_);
      EXPECT_LE(kernel.spilled_scalar_registers, most_scalar_spills(c)) << c.text(spec_);
    }
    EXPECT_EQ(matrix_ > 0, uses_matrix_units(c)) << c.text(spec_);
  }
  if (!is_soak()) return;
  for (const Case& c : random_cases(spec_, problems, device_, kDrawn, kResourceSeed)) {
    for (const KernelResources& kernel : compile(c)) print(c, kernel, "drawn");
    EXPECT_EQ(matrix_ > 0, uses_matrix_units(c)) << c.text(spec_);
  }
}

// A kernel of one's own may have a tunable for it (docs/amd.md).
TEST(Wavefronts, OfRdnaAre64WhereAnOptionSaysSo) {
  if (std::getenv("KILN_TEST_HIP6") == nullptr) GTEST_SKIP() << "done by kernels_hip6";
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_backend("hip")->open_compiler(device_for_architecture("hip", "gfx1100"));
  } catch (const DeviceError& error) {
    KILN_SKIP_UNLESS_REQUIRED("hiprtc6", error.what());
  }
  Source source;
  source.name = "twice.hip";
  source.text = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";
  source.entries = {"twice"};
  for (const std::int64_t lanes : {32, 64}) {
    source.options.clear();
    if (lanes == 64) source.options.emplace_back("-mwavefrontsize64");
    const Result<Binary> binary = compiler->compile(source);
    ASSERT_TRUE(binary) << binary.failure().message;
    const std::vector<KernelResources> kernels = kernels_of_code_object(binary->data);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels.front().wavefront, lanes);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ResourceTable,
                         testing::Combine(testing::ValuesIn(kernel_names()),
                                          testing::ValuesIn(kArchitectures)),
                         [](const testing::TestParamInfo<KernelAndArchitecture>& each) {
                           return std::get<0>(each.param) + "_" + std::get<1>(each.param);
                         });

}  // namespace
}  // namespace kiln::test
