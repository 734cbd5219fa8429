// The example kernels of users compile with the vendor's own compiler, no GPU needed.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"
#include "tests/kernels/cases.hpp"

namespace kiln::test {
namespace {

class ExampleKernels : public testing::Test {
 protected:
  void open(const std::string& backend, const std::string& architecture) {
    device_ = device_for_architecture(backend, architecture);
    try {
      compiler_ = make_backend(backend)->open_compiler(device_);
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED(backend == "cuda" ? "nvrtc" : "hiprtc", error.what());
    }
  }

  void expect_to_compile(const Problem& problem, const Config& config) {
    const std::string text = problem.text() + ", " + config.text();
    const Result<LaunchPlan> plan = Setting(spec_, problem, device_).plan(config);
    ASSERT_TRUE(plan) << text << ": " << plan.failure().message;
    const Result<Binary> binary =
        compiler_->compile(Renderer(spec_).render({spec_, problem, device_}, config));
    ASSERT_TRUE(binary) << text << ": " << binary.failure().message;
    EXPECT_GT(binary->registers, 0) << text;
    EXPECT_EQ(binary->spill_bytes, 0) << text;
  }

  /// Every config of the first variant that is possible, by the values of `tunable`.
  void expect_plain_to_compile(const std::string& folder, const std::string& text,
                               const std::vector<std::string>& configs) {
    spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/examples/plain/" + folder);
    for (const std::string& config : configs) {
      const Problem problem = Problem::parse(spec_, text);
      expect_to_compile(problem, Setting(spec_, problem, device_).parse(config));
    }
  }

  KernelSpec spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/examples/bulk_transpose");
  DeviceInfo device_;
  std::unique_ptr<Compiler> compiler_;
};

TEST_F(ExampleKernels, BulkTransposeCompiles) {
  const bool is_cuda = std::string(KILN_TEST_BACKEND) == "cuda";
  open(KILN_TEST_BACKEND, is_cuda ? "sm_90a" : "gfx90a");
  if (!compiler_) return;
  const Problem problem = Problem::parse(spec_, "rows=1000,cols=2000");
  const std::vector<Case> cases = default_cases(spec_, {problem}, device_);
  ASSERT_EQ(cases.size(), is_cuda ? 2U : 1U) << "bulk copies are CUDA's";
  for (const Case& c : cases) expect_to_compile(problem, c.config);
  if (!is_cuda) return;
  for (const char* rows : {"32", "128", "256"}) {
    const std::string config = std::string("bulk:tile_rows=") + rows;
    expect_to_compile(problem, Setting(spec_, problem, device_).parse(config));
  }
}

TEST_F(ExampleKernels, MatrixUnitsCompileWhereThereAreSome) {
  spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/examples/matrix_units");
  open(KILN_TEST_BACKEND, std::string(KILN_TEST_BACKEND) == "cuda" ? "sm_80" : "gfx90a");
  if (!compiler_) return;
  const Problem problem = Problem::parse(spec_, "m=100,n=200,k=96");
  for (const char* config : {"matrix:fragments=1", "matrix:fragments=8", "naive"}) {
    expect_to_compile(problem, Setting(spec_, problem, device_).parse(config));
  }
  const Problem odd = Problem::parse(spec_, "m=100,n=200,k=99");
  EXPECT_EQ(Setting(spec_, odd, device_).default_config().variant, "naive") << "rows of 198 bytes";
}

TEST_F(ExampleKernels, PlainSourcesCompileAsTheyAre) {
  if (std::string(KILN_TEST_BACKEND) != "cuda") GTEST_SKIP() << "the sources are CUDA's";
  open("cuda", "sm_90a");
  if (!compiler_) return;
  expect_plain_to_compile("vector_add", "n=1000", {"cuda", "cuda:BLOCK_SIZE=1024,ITEMS=8"});
  expect_plain_to_compile("tiled_matmul", "n=1000", {"cuda", "cuda:TILE=32,ROWS=4"});
  expect_plain_to_compile("convolution", "width=100,height=50,radius=3",
                          {"cuda", "cuda:block_x=16,rows=4,padded=true"});
}

TEST_F(ExampleKernels, KernelsWithCppNamesTellTheirSymbols) {
  if (std::string(KILN_TEST_BACKEND) != "cuda") GTEST_SKIP() << "the sources are CUDA's";
  open("cuda", "sm_90a");
  if (!compiler_) return;
  const KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/examples/plain/convolution");
  const Problem problem = Problem::parse(spec, "width=100,height=50");
  const Config config = Setting(spec, problem, device_).parse("cuda:padded=true");
  const Result<Binary> binary =
      compiler_->compile(Renderer(spec).render({spec, problem, device_}, config));
  ASSERT_TRUE(binary) << binary.failure().message;
  ASSERT_EQ(binary->symbols.size(), 1U);
  EXPECT_EQ(binary->symbols.begin()->first, "convolve<float, 32, 8, 2, true>");
  EXPECT_THAT(binary->symbols.begin()->second, testing::StartsWith("_Z8convolveIf"));
}

TEST_F(ExampleKernels, ErrorsInPlainSourcesNameTheFileAndLine) {
  if (std::string(KILN_TEST_BACKEND) != "cuda") GTEST_SKIP() << "the sources are CUDA's";
  open("cuda", "sm_90a");
  if (!compiler_) return;
  KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/examples/plain/convolution");
  std::string& header = spec.files.at("include/window.cuh");
  header.replace(header.find("T(0);"), 5, "U(0);");
  const Problem problem = Problem::parse(spec, "width=100,height=50");
  const Config config = Setting(spec, problem, device_).default_config();
  const Result<Binary> binary =
      compiler_->compile(Renderer(spec).render({spec, problem, device_}, config));
  ASSERT_FALSE(binary);
  EXPECT_THAT(binary.failure().message, testing::HasSubstr("include/window.cuh(18): error"));
}

TEST_F(ExampleKernels, BulkTransposeHasMapsOfTheInputAndTheOutput) {
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec_, "rows=1000,cols=2000");
  const Config config = Setting(spec_, problem, device).default_config();
  const Result<LaunchPlan> plan = Setting(spec_, problem, device).plan(config);
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_THAT(plan->find_tensor_map("in_map")->stride_bytes, testing::ElementsAre(8000));
  EXPECT_THAT(plan->find_tensor_map("in_map")->box, testing::ElementsAre(64, 32));
  EXPECT_THAT(plan->find_tensor_map("out_map")->stride_bytes, testing::ElementsAre(4000));
  const Problem odd = Problem::parse(spec_, "rows=1001,cols=2000");
  EXPECT_EQ(Setting(spec_, odd, device).default_config().variant, "naive") << "rows of 4004 bytes";
}

}  // namespace
}  // namespace kiln::test
