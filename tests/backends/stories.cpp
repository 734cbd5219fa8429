// Stories that hold for every backend: programs, launches, time and failures. Those of memory are
// in memory_stories.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/stories.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include <gmock/gmock.h>

#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOpenClWords = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define KERNEL __kernel void
#define GLOBAL __global
#define LONG long
#define SHARED __local
#define DYNAMIC_SHARED_PARAM(T, name) , __local T* name
#define DYNAMIC_SHARED(T, name)
#define CONSTANT_ARRAY(T, name, count)
#define CONSTANT_PARAM(T, name) , __constant T* name
#define THREAD_X (int)get_local_id(0)
#define BLOCK_X (int)get_group_id(0)
#define BLOCK_SIZE_X (int)get_local_size(0)
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
)";

constexpr std::string_view kCudaWords = R"(
extern __shared__ unsigned char kiln_dynamic_shared[];
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define LONG long long
#define SHARED __shared__
#define DYNAMIC_SHARED_PARAM(T, name)
#define DYNAMIC_SHARED(T, name) T* name = (T*)kiln_dynamic_shared
#define CONSTANT_ARRAY(T, name, count) __constant__ T name[count];
#define CONSTANT_PARAM(T, name)
#define THREAD_X (int)threadIdx.x
#define BLOCK_X (int)blockIdx.x
#define BLOCK_SIZE_X (int)blockDim.x
#define BARRIER() __syncthreads()
)";

constexpr std::string_view kReverse = R"(
KERNEL reverse(GLOBAL int* values DYNAMIC_SHARED_PARAM(int, tile)) {
  DYNAMIC_SHARED(int, tile);
  int i = THREAD_X;
  tile[BLOCK_SIZE_X - 1 - i] = values[i];
  BARRIER();
  values[i] = tile[i];
}
)";

}  // namespace

Source story_source(std::string_view backend, std::string_view kernels,
                    std::vector<std::string> entries) {
  Source source;
  source.name = "story";
  source.text = backend == "opencl" ? kOpenClWords : kCudaWords;
  const auto prelude_lines = std::count(source.text.begin(), source.text.end(), '\n');
  source.text += kernels;
  source.origins.resize(static_cast<std::size_t>(prelude_lines));
  const auto kernel_lines = std::count(kernels.begin(), kernels.end(), '\n');
  for (int line = 1; line <= kernel_lines; ++line)
    source.origins.push_back("story.inja:" + std::to_string(line));
  source.entries = std::move(entries);
  return source;
}

void BackendStory::SetUp() {
  backend_ = make_backend(KILN_TEST_BACKEND);
  try {
    device_ = backend_->open_device(0);
    compiler_ = backend_->open_compiler(device_->info());
  } catch (const DeviceError& error) {
    KILN_SKIP_UNLESS_REQUIRED(KILN_TEST_BACKEND, error.what());
  }
}

void BackendStory::expect_too_few_arguments_are_refused() {
  const std::unique_ptr<Module> module =
      load("KERNEL two(GLOBAL int* x, int a, int b) { x[0] = a + b; }\n", {"two"});
  ASSERT_NE(module, nullptr);
  const std::array arguments = {argument(upload(std::vector<int>{0}))};
  Launch launch = launch_of(module.get(), "two", arguments);
  const Status status = device_->launch(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().message, "kernel 'two' has 3 parameters, the step gives 1");
}

std::unique_ptr<Module> BackendStory::load(std::string_view kernels,
                                           std::vector<std::string> entries) {
  const Result<Binary> binary =
      compiler_->compile(story_source(KILN_TEST_BACKEND, kernels, std::move(entries)));
  if (!binary) {
    ADD_FAILURE() << binary.failure().message;
    return nullptr;
  }
  Result<std::unique_ptr<Module>> module = device_->load(*binary);
  if (!module) {
    ADD_FAILURE() << module.failure().message;
    return nullptr;
  }
  return std::move(*module);
}

TEST_F(BackendStory, DevicesAreListedWithTheirLimits) {
  const std::vector<DeviceInfo> devices = backend_->devices();
  ASSERT_FALSE(devices.empty());
  const DeviceInfo& first = devices.front();
  EXPECT_EQ(first, device_->info());
  EXPECT_EQ(first.backend, KILN_TEST_BACKEND);
  EXPECT_EQ(first.ordinal, 0);
  EXPECT_FALSE(first.name.empty());
  EXPECT_FALSE(first.vendor.empty());
  EXPECT_FALSE(first.architecture.empty());
  EXPECT_FALSE(first.driver.empty());
  EXPECT_FALSE(first.compiler.empty());
  EXPECT_GE(first.compute_units, 1);
  EXPECT_GE(first.max_threads_per_block, 128);
  EXPECT_GE(first.max_block[0], 128);
  EXPECT_GE(first.max_grid[0], 65535);
  EXPECT_GE(first.max_shared_bytes, 16 * 1024);
  EXPECT_GE(first.max_shared_bytes_optin, first.max_shared_bytes);
  EXPECT_GT(first.l2_bytes, 0);
  EXPECT_GT(first.global_bytes, 1 << 28);
}

TEST_F(BackendStory, CapturedWorkRunsAtEachReplay) {
  const std::unique_ptr<Module> module =
      load("KERNEL add_one(GLOBAL int* x) { x[0] += 1; }\n", {"add_one"});
  ASSERT_NE(module, nullptr);
  const Buffer buffer = upload(std::vector<int>{5});
  const std::array arguments = {argument(buffer)};
  Launch launch = launch_of(module.get(), "add_one", arguments);
  bool was_capturing = false;
  const auto work = [&]() -> Status {
    was_capturing = device_->is_capturing(nullptr);
    for (int run = 0; run < 3; ++run) {
      if (Status status = device_->launch(launch); !status) return status;
    }
    return Done{};
  };
  Result<std::unique_ptr<CapturedGraph>> graph = device_->capture(work);
  if (!device_->graphs_unavailable().empty()) {
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.failure().message, device_->graphs_unavailable());
    EXPECT_FALSE(device_->is_capturing(nullptr));
    return;
  }
  ASSERT_TRUE(graph) << graph.failure().message;
  EXPECT_TRUE(was_capturing);
  EXPECT_FALSE(device_->is_capturing(nullptr));
  EXPECT_EQ(download<int>(buffer, 1), (std::vector<int>{5})) << "nothing ran yet";
  ASSERT_TRUE((*graph)->replay());
  ASSERT_TRUE((*graph)->replay());
  EXPECT_EQ(download<int>(buffer, 1), (std::vector<int>{11}));

  const auto broken = device_->capture([]() -> Status {
    return Failure{Outcome::launch_error, "no such step"};
  });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.failure().message, "no such step");
  ASSERT_TRUE(device_->launch(launch)) << "the queue is as before";
  EXPECT_EQ(download<int>(buffer, 1), (std::vector<int>{12}));
}

TEST_F(BackendStory, ADeviceThatIsNotThereIsNamed) {
  EXPECT_THAT(test::error_of<DeviceError>([&] { return backend_->open_device(99); }),
              HasSubstr("no device " KILN_TEST_BACKEND ":99: there"));
}

TEST_F(BackendStory, AVectorIsAdded) {
  const int n = 1000;
  std::vector<float> a(n);
  std::vector<float> b(n);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(b.begin(), b.end(), 5.0F);
  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  ASSERT_NE(module, nullptr);
  const Buffer c = upload(std::vector<float>(n, -1.0F));

  const std::array arguments = {argument(upload(a)), argument(upload(b)), argument(c), scalar(n)};
  Launch launch = launch_of(module.get(), "add", arguments, {128, 1, 1}, {8, 1, 1});
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;

  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = a[i] + b[i];
  EXPECT_EQ(download<float>(c, n), expected);
}

TEST_F(BackendStory, ScalarsOfEveryTypeArriveAsTheyWere) {
  const std::unique_ptr<Module> module = load(R"(
KERNEL scalars(GLOBAL double* out, unsigned char a, int b, unsigned int c, LONG d, float e, double f) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e; out[5] = f;
}
)",
                                              {"scalars"});
  ASSERT_NE(module, nullptr);
  const Buffer out = upload(std::vector<double>(6, 0.0));
  const std::array arguments = {argument(out),
                                scalar(std::uint8_t{200}),
                                scalar(std::int32_t{-7}),
                                scalar(std::uint32_t{4000000000U}),
                                scalar(std::int64_t{-5000000000}),
                                scalar(0.5F),
                                scalar(0.1)};
  Launch launch = launch_of(module.get(), "scalars", arguments);
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;
  EXPECT_EQ(download<double>(out, 6), (std::vector<double>{200, -7, 4e9, -5e9, 0.5, 0.1}));
}

TEST_F(BackendStory, DynamicSharedMemoryIsSizedAtTheLaunch) {
  const std::unique_ptr<Module> module = load(kReverse, {"reverse"});
  ASSERT_NE(module, nullptr);
  for (const int n : {32, 128}) {
    std::vector<int> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    const Buffer buffer = upload(values);
    const std::array arguments = {argument(buffer)};
    Launch launch =
        launch_of(module.get(), "reverse", arguments, {static_cast<std::uint32_t>(n), 1, 1});
    launch.shared_bytes = static_cast<std::uint32_t>(n * sizeof(int));
    const Status status = device_->launch(launch);
    ASSERT_TRUE(status) << status.failure().message;
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(download<int>(buffer, values.size()), values);
  }
}

TEST_F(BackendStory, AllSharedMemoryTheDeviceHasCanBeAskedFor) {
  const std::unique_ptr<Module> module = load(kReverse, {"reverse"});
  ASSERT_NE(module, nullptr);
  const Buffer buffer = upload(std::vector<int>{1, 2});
  const std::array arguments = {argument(buffer)};
  Launch launch = launch_of(module.get(), "reverse", arguments, {2, 1, 1});
  launch.shared_bytes = static_cast<std::uint32_t>(device_->info().max_shared_bytes_optin);
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;
  EXPECT_EQ(download<int>(buffer, 2), (std::vector<int>{2, 1}));
}

TEST_F(BackendStory, MoreSharedMemoryThanThereIsIsRefusedAndTheDeviceLivesOn) {
  const std::unique_ptr<Module> module = load(kReverse, {"reverse"});
  ASSERT_NE(module, nullptr);
  const Buffer buffer = upload(std::vector<int>{1, 2});
  const std::array arguments = {argument(buffer)};
  Launch launch = launch_of(module.get(), "reverse", arguments, {2, 1, 1});
  launch.shared_bytes = static_cast<std::uint32_t>(device_->info().max_shared_bytes_optin + 4);
  const Status refused = device_->launch(launch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().outcome, Outcome::launch_error);
  EXPECT_FALSE(refused.failure().sticky);

  launch.shared_bytes = 8;
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;
  EXPECT_EQ(download<int>(buffer, 2), (std::vector<int>{2, 1}));
}

TEST_F(BackendStory, ConstantsAreFreshAtEveryLaunch) {
  const std::unique_ptr<Module> module = load(R"(
CONSTANT_ARRAY(float, weights, 4)
CONSTANT_ARRAY(float, offset, 1)
KERNEL weigh(GLOBAL float* out, float scale CONSTANT_PARAM(float, weights) CONSTANT_PARAM(float, offset)) {
  out[THREAD_X] = scale * weights[THREAD_X] + offset[0];
}
)",
                                              {"weigh"});
  ASSERT_NE(module, nullptr);
  const Buffer out = upload(std::vector<float>(4, 0.0F));
  const Buffer weights = upload(std::vector<float>{1, 2, 3, 4});
  const Buffer offset = upload(std::vector<float>{100});
  const std::array arguments = {argument(out), scalar(10.0F)};
  const std::array constants = {ConstantArgument{"weights", weights, 16},
                                ConstantArgument{"offset", offset, 4}};
  Launch launch = launch_of(module.get(), "weigh", arguments, {4, 1, 1});
  launch.constants = constants;
  ASSERT_TRUE(device_->launch(launch));
  EXPECT_EQ(download<float>(out, 4), (std::vector<float>{110, 120, 130, 140}));

  const std::vector<float> changed = {4, 3, 2, 1};
  ASSERT_TRUE(device_->upload(weights, 0, std::as_bytes(std::span(changed))));
  ASSERT_TRUE(device_->launch(launch));
  EXPECT_EQ(download<float>(out, 4), (std::vector<float>{140, 130, 120, 110}));
}

TEST_F(BackendStory, ACompileErrorPointsAtTheTemplate) {
  const Result<Binary> binary = compiler_->compile(story_source(
      KILN_TEST_BACKEND, "KERNEL broken(GLOBAL int* out) {\n  out[0] = undefined_name;\n}\n",
      {"broken"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.failure().message, HasSubstr("undefined_name"));
  EXPECT_THAT(binary.failure().message, HasSubstr("story.inja:2: "));
}

TEST_F(BackendStory, AnEntryThatIsNotInTheSourceIsNamed) {
  const Result<Binary> binary =
      compiler_->compile(story_source(KILN_TEST_BACKEND, kAddStory, {"subtract"}));
  if (!binary) {
    EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
    EXPECT_THAT(binary.failure().message, HasSubstr("no kernel named 'subtract'"));
    return;
  }
  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  Launch launch = launch_of(module.get(), "subtract", {});
  const Status status = device_->launch(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::launch_error);
  EXPECT_THAT(status.failure().message, HasSubstr("'subtract'"));
}

TEST_F(BackendStory, ABlockTooLargeForTheDeviceIsRefused) {
  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  ASSERT_NE(module, nullptr);
  const Buffer buffer = upload(std::vector<float>(4, 0.0F));
  const std::array arguments = {argument(buffer), argument(buffer), argument(buffer), scalar(0)};
  Launch launch =
      launch_of(module.get(), "add", arguments,
                {static_cast<std::uint32_t>(device_->info().max_threads_per_block * 2), 1, 1});
  const Status status = device_->launch(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::launch_error);
  EXPECT_FALSE(status.failure().sticky);
}

TEST_F(BackendStory, TensorMapsAreRefusedWhereThereAreNone) {
  if (has_tensor_maps(device_->info())) GTEST_SKIP() << "this device has them";
  const Buffer buffer = upload(std::vector<float>(64, 0.0F));
  TensorMapPlan plan;
  plan.name = "map";
  plan.shape = plan.box = {64};
  plan.element_strides = {1};
  const Result<TensorMapBytes> encoded = device_->encode(plan, buffer);
  if (device_->info().backend == "cuda") return;  // an older GPU: the driver knows
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.failure().outcome, Outcome::launch_error);
  EXPECT_EQ(encoded.failure().message, "this backend has no tensor maps");

  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  ASSERT_NE(module, nullptr);
  const TensorMapBytes map;
  KernelArgument passed;
  passed.kind = KernelArgument::Kind::tensor_map;
  passed.tensor_map = &map;
  const std::array arguments = {argument(buffer), argument(buffer), passed, scalar(0)};
  Launch launch = launch_of(module.get(), "add", arguments);
  const Status status = device_->launch(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::launch_error);
  EXPECT_THAT(status.failure().message, HasSubstr("has no tensor maps"));
}

TEST_F(BackendStory, ABinaryOutlivesItsCompiler) {
  const Result<Binary> binary =
      compiler_->compile(story_source(KILN_TEST_BACKEND, kAddStory, {"add"}));
  ASSERT_TRUE(binary) << binary.failure().message;
  compiler_.reset();
  const Result<std::unique_ptr<Module>> module = device_->load(*binary);
  ASSERT_TRUE(module) << module.failure().message;

  Binary damaged = *binary;
  damaged.data.resize(damaged.data.size() / 3);
  EXPECT_FALSE(device_->load(damaged));
  EXPECT_FALSE(device_->load(Binary{}));
}

TEST_F(BackendStory, TimeBetweenEventsGrowsWithTheWork) {
  const std::unique_ptr<Module> module = load(R"(
KERNEL spin(GLOBAL float* out, int rounds) {
  float x = out[THREAD_X];
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1.0f;
  out[THREAD_X] = x;
}
)",
                                              {"spin"});
  ASSERT_NE(module, nullptr);
  const Buffer out = upload(std::vector<float>(64, 1.0F));
  const auto time_of = [&](int rounds) {
    const std::array arguments = {argument(out), scalar(rounds)};
    Launch launch = launch_of(module.get(), "spin", arguments, {64, 1, 1});
    const Result<EventId> before = device_->record();
    EXPECT_TRUE(device_->launch(launch));
    const Result<EventId> after = device_->record();
    const Result<double> ns = device_->elapsed_ns(*before, *after);
    EXPECT_TRUE(ns) << ns.failure().message;
    return *ns;
  };
  time_of(1);  // the first launch of a program may still compile
  const double brief = time_of(1);
  const double lengthy = time_of(2'000'000);
  EXPECT_GT(brief, 0.0);
  // Two million dependent steps take over a millisecond on the fastest machine.
  EXPECT_GT(lengthy, 1e6);
  EXPECT_GT(lengthy, brief);
}

TEST_F(BackendStory, ManyEventsAreAliveAtOnce) {
  std::vector<EventId> ids;
  for (int i = 0; i < 4096; ++i) {
    const Result<EventId> id = device_->record();
    ASSERT_TRUE(id) << id.failure().message;
    ids.push_back(*id);
  }
  const Result<double> all = device_->elapsed_ns(ids.front(), ids.back());
  ASSERT_TRUE(all) << all.failure().message;
  EXPECT_GT(*all, 0.0);
}

}  // namespace kiln
