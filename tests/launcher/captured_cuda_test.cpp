// A stream that is really captured on a GPU: the graph runs the config that was timed in a graph,
// and its results are right. Skipped without a CUDA device.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "backends/cuda/cuda_api.hpp"
#include "core/errors.hpp"
#include "tests/backends/required.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kCount = 100000;

Config sum_of_blocks(std::int64_t block) {
  return {"ticket",
          {{"block_size", block},
           {"load_bytes", std::int64_t{16}},
           {"unroll", std::int64_t{4}},
           {"accumulators", std::int64_t{1}},
           {"blocks_per_unit", std::int64_t{4}},
           {"streaming", false},
           {"finish", std::string("tree")}}};
}

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNode {
  void* function = nullptr;
  unsigned grid[3] = {};
  unsigned block[3] = {};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};

template <typename Function>
Function* driver_call(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
}

/// Threads in x of a block, of each kernel in the graph.
std::vector<unsigned> blocks_of(void* graph) {
  const auto get_nodes = driver_call<int(void*, void**, std::size_t*)>("cuGraphGetNodes");
  const auto get_type = driver_call<int(void*, int*)>("cuGraphNodeGetType");
  const auto get_kernel = driver_call<int(void*, KernelNode*)>("cuGraphKernelNodeGetParams");
  std::size_t count = 0;
  EXPECT_EQ(get_nodes(graph, nullptr, &count), 0);
  std::vector<void*> nodes(count);
  EXPECT_EQ(get_nodes(graph, nodes.data(), &count), 0);
  std::vector<unsigned> blocks;
  for (void* node : nodes) {
    int type = -1;
    EXPECT_EQ(get_type(node, &type), 0);
    if (type != 0) continue;  // CU_GRAPH_NODE_TYPE_KERNEL
    KernelNode kernel;
    EXPECT_EQ(get_kernel(node, &kernel), 0);
    blocks.push_back(kernel.block[0]);
  }
  return blocks;
}

/// A context, a stream and memory of the application's own.
class CapturedOnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = make_backend("cuda")->open_device(0);  // its primary context
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED("cuda", error.what());
    }
    ASSERT_EQ(cuda().primary_context_retain(&context_, 0), 0);
    ASSERT_EQ(cuda().context_push(context_), 0);
    ASSERT_EQ(cuda().stream.stream_create(&stream_, kStreamNonBlocking), 0);
    in_ = device_->allocate(kCount * sizeof(float))->handle;
    out_ = device_->allocate(sizeof(float))->handle;
    const std::vector<float> ones(kCount, 1);
    ASSERT_TRUE(device_->upload({in_, kCount * sizeof(float)}, 0, std::as_bytes(std::span(ones))));
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    cuda().stream.stream_destroy(stream_);
    void* popped = nullptr;
    cuda().context_pop(&popped);
    cuda().primary_context_release(0);
  }

  void store(std::int64_t block, Timing timing) {
    test::store_best(folder_ / "kiln.db",
                     {"reduce", "n=100000", R"({"n":100000})", sum_of_blocks(block), timing},
                     [this](DeviceInfo& device) { device = device_->info(); });
  }

  [[nodiscard]] float result() {
    float value = 0;
    EXPECT_TRUE(
        device_->download({out_, sizeof value}, 0, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  void clear_result() {
    const float nothing = -1;
    ASSERT_TRUE(device_->upload({out_, sizeof nothing}, 0, std::as_bytes(std::span(&nothing, 1))));
  }

  test::LauncherFolder folder_;
  std::unique_ptr<Device> device_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  DeviceAddress in_ = 0;
  DeviceAddress out_ = 0;
};

TEST_F(CapturedOnCuda, TheGraphRunsTheConfigThatWasTimedInAGraph) {
  store(256, Timing::eager);
  store(512, Timing::graph);
  Launcher::Options options = Launcher::Options::on_cuda_stream(stream_);
  options.databases = {folder_ / "kiln.db"};
  options.use_shipped = false;
  options.cache_folder = folder_ / "cache";
  options.statistics = folder_ / "calls.jsonl";
  const Launcher launcher(options);
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=100000").value();
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=256"));
  EXPECT_THAT(kernel.captured_match().config, HasSubstr("block_size=512"));
  kernel.prepare_queue(stream_).value();
  const auto launch = [&] {
    return kernel.launch(stream_, {memory("in", reinterpret_cast<void*>(in_), kCount * 4),
                                   memory("out", reinterpret_cast<void*>(out_), 4)});
  };
  clear_result();
  launch().value();
  ASSERT_EQ(cuda().stream.stream_synchronize(stream_), 0);
  EXPECT_EQ(result(), static_cast<float>(kCount));

  clear_result();
  void* graph = nullptr;
  void* executable = nullptr;
  ASSERT_EQ(cuda().stream.begin_capture(stream_, /*mode: global, the strictest*/ 0), 0);
  const Expected<void> captured = launch();
  ASSERT_EQ(cuda().stream.end_capture(stream_, &graph), 0);
  captured.value();
  EXPECT_EQ(result(), -1.0F) << "captured, not run";
  EXPECT_THAT(blocks_of(graph), ::testing::Each(512U));
  EXPECT_THAT(blocks_of(graph), ::testing::Not(::testing::IsEmpty()));
  ASSERT_EQ(cuda().stream.graph_instantiate(&executable, graph, 0), 0);
  ASSERT_EQ(cuda().stream.graph_launch(executable, stream_), 0);
  ASSERT_EQ(cuda().stream.stream_synchronize(stream_), 0);
  EXPECT_EQ(result(), static_cast<float>(kCount));
  cuda().stream.graph_executable_destroy(executable);
  cuda().stream.graph_destroy(graph);
  EXPECT_EQ(launcher.statistics()->launches[0], 2U);
}

}  // namespace
}  // namespace kiln
