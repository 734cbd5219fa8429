// What is particular to CUDA: NVRTC, which needs no GPU, and clusters, faults and contexts, which
// do.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>

#include <gmock/gmock.h>

#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/cuda_devices.hpp"
#include "backends/cuda/nvrtc_api.hpp"
#include "backends/elf_image.hpp"
#include "tests/backends/stories.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kCudaStage = R"(
KERNEL stage(GLOBAL float* out, int n) {
  SHARED float tile[256];
  tile[THREAD_X] = out[THREAD_X];
  BARRIER();
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += tile[(THREAD_X + i) % 256];
  out[THREAD_X] = sum;
}
)";

TEST(CudaNames, FollowTheCapability) {
  EXPECT_EQ(cuda_architecture(75), "sm_75");
  EXPECT_EQ(cuda_architecture(90), "sm_90a");
  EXPECT_EQ(cuda_architecture(120), "sm_120a");
}

TEST(NvrtcCandidates, AreTheOneThatTheEnvironmentNames) {
  const char* before = std::getenv("KILN_NVRTC_PATH");
  const std::string saved = before != nullptr ? before : "";
  setenv("KILN_NVRTC_PATH", "/opt/cuda/libnvrtc.so.13", 1);
  EXPECT_EQ(nvrtc_candidates(), (std::vector<std::string>{"/opt/cuda/libnvrtc.so.13"}));
  unsetenv("KILN_NVRTC_PATH");
  EXPECT_THAT(nvrtc_candidates(), testing::IsSupersetOf({"libnvrtc.so.13", "libnvrtc.so.12"}));
  if (!saved.empty()) setenv("KILN_NVRTC_PATH", saved.c_str(), 1);
}

/// NVRTC alone: no driver, no device.
class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(nvrtc());
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED("nvrtc", error.what());
    }
  }

  static std::unique_ptr<Compiler> compiler_for(const std::string& architecture) {
    DeviceInfo target;
    target.backend = "cuda";
    target.architecture = architecture;
    return make_backend("cuda")->open_compiler(target);
  }
};

TEST_F(Nvrtc, CompilesForEveryArchitectureWithoutADevice) {
  for (const std::string architecture : {"sm_75", "sm_80", "sm_90a", "sm_120"}) {
    const Result<Binary> binary =
        compiler_for(architecture)->compile(story_source("cuda", kCudaStage, {"stage"}));
    ASSERT_TRUE(binary) << architecture << ": " << binary.failure().message;
    EXPECT_TRUE(is_whole_elf(binary->data)) << architecture;
    EXPECT_GT(binary->registers, 0) << architecture;
    EXPECT_EQ(binary->spill_bytes, 0) << architecture;
    EXPECT_EQ(binary->shared_bytes, 1024) << architecture;
  }
}

TEST_F(Nvrtc, RefusesAnArchitectureItDoesNotKnow) {
  for (const std::string architecture : {"sm_12", "sm_9x", "gfx90a", "", "sm_90abc"}) {
    EXPECT_THAT(test::error_of<DeviceError>([&] { return compiler_for(architecture); }),
                HasSubstr("does not know '" + architecture + "': it knows sm_"))
        << architecture;
  }
}

TEST_F(Nvrtc, PointsAtTheTemplateInErrors) {
  const Result<Binary> binary = compiler_for("sm_80")->compile(story_source(
      "cuda", "KERNEL broken(GLOBAL int* out) {\n  out[0] = undefined_name;\n}\n", {"broken"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.failure().message,
              HasSubstr("story.inja:2: error: identifier \"undefined_name\" is undefined"));
}

TEST_F(Nvrtc, NamesAnEntryThatIsNotThere) {
  const Result<Binary> binary =
      compiler_for("sm_80")->compile(story_source("cuda", kCudaStage, {"stage", "merge"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_EQ(binary.failure().message, "story has no kernel named 'merge' (it has: stage)");
}

TEST_F(Nvrtc, TakesTheOptionsOfTheVariant) {
  Source source = story_source("cuda", kCudaStage, {"stage"});
  source.options = {"--maxrregcount=24"};
  const auto compiler = compiler_for("sm_90a");
  const Result<Binary> capped = compiler->compile(source);
  ASSERT_TRUE(capped) << capped.failure().message;
  EXPECT_LE(capped->registers, 24);

  source.options = {"--no-such-option"};
  const Result<Binary> refused = compiler->compile(source);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(refused.failure().message, HasSubstr("NVRTC_ERROR_INVALID_OPTION (5)"));
  EXPECT_THAT(refused.failure().message, HasSubstr("--no-such-option"));

  // And the compiler still works.
  source.options.clear();
  EXPECT_TRUE(compiler->compile(source));
}

// NVRTC is asked to leave out what few kernels use.
TEST_F(Nvrtc, KernelsMayUseTexturesAllTheSame) {
  const auto compiler = compiler_for("sm_80");
  const Source textured =
      story_source("cuda",
                   "KERNEL lookup(GLOBAL float* out, cudaTextureObject_t from) {\n"
                   "  out[THREAD_X] = tex2D<float>(from, 1.0f, 2.0f);\n}\n",
                   {"lookup"});
  for (int i = 0; i < 2; ++i) {
    const Result<Binary> binary = compiler->compile(textured);
    EXPECT_TRUE(binary) << binary.failure().message;
  }
  EXPECT_TRUE(compiler->compile(story_source("cuda", kCudaStage, {"stage"})));
}

TEST_F(Nvrtc, TooMuchSharedMemoryIsACompileError) {
  const Result<Binary> binary = compiler_for("sm_80")->compile(
      story_source("cuda",
                   "KERNEL huge(GLOBAL int* out) {\n  SHARED int tile[100000];\n  tile[THREAD_X] = "
                   "1; out[0] = tile[out[1]];\n}\n",
                   {"huge"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.failure().message, HasSubstr("shared"));
}

class CudaStory : public BackendStory {};

TEST_F(CudaStory, TheDeviceIsAnNvidiaGpu) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.vendor, "nvidia");
  EXPECT_THAT(info.architecture, StartsWith("sm_"));
  EXPECT_THAT(info.compiler, StartsWith("nvrtc "));
  EXPECT_GE(info.compute_capability, 75);
  EXPECT_EQ(info.warp_size, 32);
  EXPECT_TRUE(info.has_shuffle);
}

TEST_F(CudaStory, ClustersAreLaunchedWhereTheDeviceHasThem) {
  if (device_->info().compute_capability < 90)
    GTEST_SKIP() << "clusters need compute capability 9.0";
  const std::unique_ptr<Module> module = load(R"(
KERNEL size_of_cluster(GLOBAL int* out) {
  int blocks;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
  out[BLOCK_X] = blocks;
}
)",
                                              {"size_of_cluster"});
  ASSERT_NE(module, nullptr);
  for (const std::uint32_t blocks : {1U, 4U, 16U}) {
    const Buffer out = upload(std::vector<int>(16, 0));
    const std::array arguments = {argument(out)};
    Launch launch = launch_of(module.get(), "size_of_cluster", {}, {1, 1, 1}, {16, 1, 1});
    launch.cluster = {blocks, 1, 1};
    launch.arguments = arguments;
    const Status status = device_->launch(launch);
    ASSERT_TRUE(status) << status.failure().message;
    EXPECT_EQ(download<int>(out, 16), std::vector<int>(16, static_cast<int>(blocks)));
  }
}

// A box of 4 x 8 words from the third row on, of memory that begins 256 bytes into a buffer; the
// row that lies outside comes as zeros.
TEST_F(CudaStory, ABoxIsCopiedByItsTensorMap) {
  if (!has_tensor_maps(device_->info())) GTEST_SKIP() << "tensor maps need compute capability 9.0";
  const std::unique_ptr<Module> module = load(R"(
struct __align__(64) map_t { unsigned long long bytes[16]; };
KERNEL copy_box(const __grid_constant__ map_t map, GLOBAL int* out) {
  __shared__ __align__(128) int box[4 * 8];
  __shared__ unsigned long long barrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (THREAD_X == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
        ::"r"((unsigned)__cvta_generic_to_shared(box)), "l"(&map), "r"(at), "r"(4), "r"(2) : "memory");
  }
  BARRIER();
  unsigned over = 0;
  while (!over) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(at) : "memory");
  }
  out[THREAD_X] = box[THREAD_X];
}
)",
                                              {"copy_box"});
  ASSERT_NE(module, nullptr);
  std::vector<int> values(64 + 5 * 12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  Buffer window = upload(values);
  window.offset = 256;
  TensorMapPlan plan;
  plan.name = "map";
  plan.dtype = DType::i32;
  plan.shape = {5, 12};
  plan.stride_bytes = {48};
  plan.box = {4, 8};
  plan.element_strides = {1, 1};
  const Result<TensorMapBytes> map = device_->encode(plan, window);
  ASSERT_TRUE(map) << map.failure().message;
  KernelArgument passed;
  passed.kind = KernelArgument::Kind::tensor_map;
  passed.tensor_map = &*map;
  const Buffer out = upload(std::vector<int>(32, -1));
  const std::array arguments = {passed, argument(out)};
  Launch launch = launch_of(module.get(), "copy_box", arguments, {32, 1, 1});
  for (const bool programmatic : {false, true}) {
    launch.programmatic = programmatic;
    const Status status = device_->launch(launch);
    ASSERT_TRUE(status) << status.failure().message;
    std::vector<int> expected;
    for (int row = 2; row < 6; ++row) {
      for (int col = 4; col < 12; ++col) expected.push_back(row < 5 ? 64 + row * 12 + col : 0);
    }
    EXPECT_EQ(download<int>(out, 32), expected);
  }
  plan.stride_bytes = {40};
  const Result<TensorMapBytes> wrong = device_->encode(plan, window);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.failure().message, HasSubstr("cuTensorMapEncodeTiled of 'map'"));
}

TEST_F(CudaStory, AStepWithTooFewArgumentsIsRefused) {
  if (cuda().function_get_parameter == nullptr) GTEST_SKIP() << "a driver before CUDA 12.4";
  expect_too_few_arguments_are_refused();
}

TEST_F(CudaStory, TheClockIsKnownWhereNvmlIs) {
  const Device::ClockState state = device_->clock_state();
  if (state.clock_khz == 0) GTEST_SKIP() << "no NVML here";
  EXPECT_GT(state.clock_khz, 100'000);
  EXPECT_LT(state.clock_khz, 10'000'000);
}

TEST_F(CudaStory, AnApplicationsContextIsUsedAndLeftToIt) {
  void* context = nullptr;
  ASSERT_EQ(cuda().primary_context_retain(&context, 0), 0);
  {
    NativeQueue native;
    native.context = context;
    const std::unique_ptr<Device> attached = backend_->attach(native);
    EXPECT_EQ(attached->info(), device_->info());
    const Result<Buffer> buffer = attached->allocate(64);
    ASSERT_TRUE(buffer) << buffer.failure().message;
    EXPECT_TRUE(attached->fill(*buffer, 0, 64, 7));
    EXPECT_TRUE(attached->synchronize());
  }
  void* current = context;
  EXPECT_EQ(cuda().context_get_current(&current), 0);
  EXPECT_EQ(current, nullptr) << "a context was left current";
  EXPECT_EQ(cuda().primary_context_release(0), 0);
  EXPECT_THROW(static_cast<void>(backend_->attach(NativeQueue{})), DeviceError);
}

TEST_F(CudaStory, ReadingBehindAFenceIsAStickyFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the context of that process is lost
  const auto run = [&] {
    const Status status = read_behind_a_fence();
    if (status) std::exit(1);
    std::fputs(status.failure().message.c_str(), stderr);
    std::exit(status.failure().sticky ? 0 : 2);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "\\(700\\)");
}

// Last, because the context of the process is lost after it.
TEST_F(CudaStory, WritingOutOfBoundsIsAStickyFault) {
  const std::unique_ptr<Module> module =
      load("KERNEL stray(GLOBAL int* out, LONG at) { out[at] = 1; }\n", {"stray"});
  ASSERT_NE(module, nullptr);
  const std::array arguments = {argument(upload(std::vector<int>{0})),
                                scalar(std::int64_t{1} << 40)};
  Launch launch = launch_of(module.get(), "stray", arguments);
  ASSERT_TRUE(device_->launch(launch));
  const Status status = device_->synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::device_fault);
  EXPECT_TRUE(status.failure().sticky);
  EXPECT_THAT(status.failure().message, HasSubstr("(700)"));
}

}  // namespace
}  // namespace kiln
