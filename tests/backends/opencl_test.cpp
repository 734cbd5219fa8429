// What is particular to OpenCL: the CPU device, names, attaching, work-groups.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backends/opencl/opencl_devices.hpp"
#include "tests/backends/stories.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(OpenClNames, AreSlugs) {
  EXPECT_EQ(opencl_architecture("cpu", "pthread-AMD EPYC 7B13 (x2)"),
            "opencl-cpu-pthread-amd-epyc-7b13-x2");
  EXPECT_EQ(opencl_architecture("nvidia", "NVIDIA H200"), "opencl-nvidia-nvidia-h200");
}

class OpenClStory : public BackendStory {};

TEST_F(OpenClStory, CpuDevicesAreCalledSo) {
  const DeviceInfo& info = device_->info();
  if (!info.is_cpu) GTEST_SKIP() << info.name << " is no CPU";
  EXPECT_EQ(info.vendor, "cpu");
  EXPECT_THAT(info.architecture, StartsWith("opencl-cpu-"));
  EXPECT_EQ(info.warp_size, 1);
  EXPECT_FALSE(info.has_shuffle);
  EXPECT_EQ(info.compute_capability, 0);
}

TEST_F(OpenClStory, ReadingBehindAFenceEndsTheProcess) {
  if (!device_->info().is_cpu) GTEST_SKIP() << device_->info().name << " is no CPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(static_cast<void>(read_behind_a_fence()), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(OpenClStory, TheBareArchitectureIsTheFirstDevice) {
  DeviceInfo any;
  any.backend = "opencl";
  any.architecture = "opencl";
  const std::unique_ptr<Compiler> compiler = backend_->open_compiler(any);
  EXPECT_TRUE(compiler->compile(
      story_source("opencl", "KERNEL nothing(GLOBAL int* x) { x[0] = 1; }\n", {"nothing"})));
}

TEST_F(OpenClStory, AnotherArchitectureIsRefused) {
  DeviceInfo other;
  other.architecture = "opencl-amd-gfx90a";
  EXPECT_THAT(test::error_of<DeviceError>([&] { return backend_->open_compiler(other); }),
              HasSubstr("none here is 'opencl-amd-gfx90a'"));
}

TEST_F(OpenClStory, StaticSharedMemoryIsReportedAndCountedBeforeALaunch) {
  const Result<Binary> binary = compiler_->compile(story_source("opencl", R"(
KERNEL stage(GLOBAL int* out DYNAMIC_SHARED_PARAM(int, more)) {
  SHARED int tile[100];
  tile[THREAD_X] = THREAD_X; more[THREAD_X] = 1;
  BARRIER();
  out[THREAD_X] = tile[THREAD_X] + more[THREAD_X];
}
)",
                                                                {"stage"}));
  ASSERT_TRUE(binary) << binary.failure().message;
  EXPECT_GE(binary->shared_bytes, 400);
  EXPECT_LE(binary->shared_bytes, 416) << "NVIDIA counts a placeholder for the dynamic part in";

  Result<std::unique_ptr<Module>> module = device_->load(*binary);
  ASSERT_TRUE(module);
  const std::array arguments = {argument(upload(std::vector<int>(4, 0)))};
  Launch launch = launch_of(module->get(), "stage", arguments, {4, 1, 1});
  launch.shared_bytes = static_cast<std::uint32_t>(device_->info().max_shared_bytes);
  const Status status = device_->launch(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::launch_error);
  if (device_->info().is_cpu) {
    EXPECT_THAT(status.failure().message, HasSubstr("kernel 'stage' needs"));
  }
}

TEST_F(OpenClStory, AStepWithTooFewArgumentsIsRefused) { expect_too_few_arguments_are_refused(); }

// One parameter more than the step gives may be dynamic shared memory.
TEST_F(OpenClStory, AForgottenLastArgumentIsNotTakenForSharedMemory) {
  const std::unique_ptr<Module> module = load(
      "KERNEL two(GLOBAL int* x, int a) { x[0] = a; }\n"
      "KERNEL copy(GLOBAL int* x, GLOBAL int* y) { y[0] = x[0]; }\n",
      {"two", "copy"});
  ASSERT_NE(module, nullptr);
  const std::array arguments = {argument(upload(std::vector<int>{0}))};
  Launch launch;
  launch.module = module.get();
  launch.arguments = arguments;
  for (const char* entry : {"two", "copy"}) {
    launch.entry = entry;
    const Result<std::unique_ptr<PreparedLaunch>> prepared =
        device_->prepare_launch(launch, nullptr);
    ASSERT_FALSE(prepared);
    const Status status = device_->launch(launch);
    ASSERT_FALSE(status);
    for (const std::string& message : {prepared.failure().message, status.failure().message}) {
      EXPECT_EQ(message, fmt::format("kernel '{}' has 2 parameters, the step gives 1", entry));
    }
  }
}

// OpenCL has no windows of 0 bytes.
TEST_F(OpenClStory, AnArgumentMayHaveNoElements) {
  const std::unique_ptr<Module> module = load(
      "KERNEL first(GLOBAL int* x, GLOBAL int* y, int n) { if (n > 0) x[0] = y[0]; }\n", {"first"});
  ASSERT_NE(module, nullptr);
  const Buffer whole = upload(std::vector<int>(1024, 7));
  Buffer empty = whole;
  empty.offset = 2048;
  empty.bytes = 0;
  const int none = 0;
  const std::array arguments = {argument(whole), argument(empty), scalar(none)};
  Launch launch = launch_of(module.get(), "first", arguments);
  const Status status = device_->launch(launch);
  EXPECT_TRUE(status) << status.failure().message;
  const Result<std::unique_ptr<PreparedLaunch>> prepared = device_->prepare_launch(launch, nullptr);
  EXPECT_TRUE(prepared) << prepared.failure().message;
}

/// A context and queue that an application made itself.
struct Application {
  explicit Application(cl_device_id device, cl_command_queue_properties properties) {
    context = own(opencl().create_context(nullptr, 1, &device, nullptr, nullptr, nullptr));
    queue = own(opencl().create_command_queue(context.get(), device, properties, nullptr));
  }
  OwnedContext context;
  OwnedQueue queue;
};

void add_on(Device& device, Module& module) {
  const std::vector<float> ones(64, 1.0F);
  const Result<Buffer> in = device.allocate(256);
  const Result<Buffer> out = device.allocate(256);
  ASSERT_TRUE(in);
  ASSERT_TRUE(out);
  ASSERT_TRUE(device.upload(*in, 0, std::as_bytes(std::span(ones))));
  const std::array arguments = {argument(*in), argument(*out)};
  Launch launch;
  launch.module = &module;
  launch.entry = "twice";
  launch.block = {64, 1, 1};
  launch.arguments = arguments;
  const Result<EventId> before = device.record();
  ASSERT_TRUE(device.launch(launch));
  const Result<EventId> after = device.record();
  ASSERT_TRUE(before);
  ASSERT_TRUE(after);
  const Result<double> ns = device.elapsed_ns(*before, *after);
  ASSERT_TRUE(ns) << ns.failure().message;
  EXPECT_GT(*ns, 0.0);
  std::vector<float> result(64);
  ASSERT_TRUE(device.download(*out, 0, std::as_writable_bytes(std::span(result))));
  EXPECT_EQ(result, std::vector<float>(64, 2.0F));
}

Source twice_source() {
  Source source;
  source.name = "twice";
  source.text = R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void twice(
    __global const float* in, __global float* out) {
  out[get_global_id(0)] = in[get_global_id(0)] + in[get_global_id(0)];
}
)";
  source.entries = {"twice"};
  return source;
}

TEST_F(OpenClStory, BinariesForEachUseRun) {
  for (const BinaryUse use : {BinaryUse::kept, BinaryUse::once, BinaryUse::ready}) {
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, {"-cl-fast-relaxed-math"}}) {
      compiler_->prepare_for(use);
      Source source = twice_source();
      source.options = options;
      const Result<Binary> binary = compiler_->compile(source);
      ASSERT_TRUE(binary) << binary.failure().message;
      const Result<std::unique_ptr<Module>> module = device_->load(*binary);
      ASSERT_TRUE(module) << module.failure().message;
      add_on(*device_, **module);
    }
  }
}

TEST_F(OpenClStory, AReadyBinaryOfPoclHasTheCodeOfItsBlockSize) {
  if (!device_->info().runtime.starts_with("PoCL")) GTEST_SKIP() << "not PoCL";
  const auto has_code = [&](BinaryUse use) {
    compiler_->prepare_for(use);
    const Result<Binary> binary = compiler_->compile(twice_source());
    EXPECT_TRUE(binary);
    const std::string bytes(reinterpret_cast<const char*>(binary->data.data()),
                            binary->data.size());
    return bytes.find("64-1-1-goffs0-smallgrid") != std::string::npos;
  };
  EXPECT_TRUE(has_code(BinaryUse::ready));
  EXPECT_FALSE(has_code(BinaryUse::once));
  EXPECT_EQ(::getenv("POCL_BINARY_SPECIALIZE_WG"), nullptr);
}

TEST_F(OpenClStory, WhatIsMissingIsACompileErrorForEachUse) {
  for (const BinaryUse use : {BinaryUse::kept, BinaryUse::once, BinaryUse::ready}) {
    compiler_->prepare_for(use);
    Source source = twice_source();
    source.text +=
        "float elsewhere(float x);\n__kernel void other(__global float* x) { *x = "
        "elsewhere(*x); }\n";
    const Result<Binary> unlinked = compiler_->compile(source);
    ASSERT_FALSE(unlinked);
    EXPECT_EQ(unlinked.failure().outcome, Outcome::compile_error);
    EXPECT_THAT(unlinked.failure().message, HasSubstr("elsewhere"));
    source = twice_source();
    source.entries.push_back("thrice");
    const Result<Binary> entry = compiler_->compile(source);
    ASSERT_FALSE(entry);
    EXPECT_THAT(entry.failure().message, HasSubstr("no kernel named 'thrice'"));
  }
}

TEST_F(OpenClStory, AnApplicationsQueueIsUsedAndLeftToIt) {
  const Result<Binary> binary =
      compiler_->compile(story_source("opencl",
                                      "KERNEL twice(GLOBAL const float* in, GLOBAL float* out) { "
                                      "out[THREAD_X] = 2 * in[THREAD_X]; }\n",
                                      {"twice"}));
  ASSERT_TRUE(binary) << binary.failure().message;
  const cl_device_id id = list_opencl_devices().front().id;
  // Without profiling time is the host's; an out-of-order queue is kept in order by barriers.
  for (const cl_command_queue_properties properties :
       {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                    CL_QUEUE_PROFILING_ENABLE}}) {
    const Application application(id, properties);
    {
      NativeQueue native;
      native.queue = application.queue.get();
      const std::unique_ptr<Device> attached = backend_->attach(native);
      EXPECT_EQ(attached->info(), device_->info());
      const Result<std::unique_ptr<Module>> module = attached->load(*binary);
      ASSERT_TRUE(module) << module.failure().message;
      add_on(*attached, **module);
    }
    EXPECT_EQ(opencl().finish(application.queue.get()), CL_SUCCESS);
  }
}

TEST_F(OpenClStory, AttachingNeedsAQueueOrAContextAndADevice) {
  const cl_device_id id = list_opencl_devices().front().id;
  const Application application(id, 0);
  NativeQueue native;
  EXPECT_THROW(static_cast<void>(backend_->attach(native)), DeviceError);
  native.context = application.context.get();
  native.device = id;
  EXPECT_EQ(backend_->attach(native)->info().name, device_->info().name);
}

}  // namespace
}  // namespace kiln
