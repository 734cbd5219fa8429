// kiln_launch_driver_calls: which calls of the CUDA driver a warm launcher makes, counted.
//
//   kiln_launch_driver_calls CACHE
//
// The launcher's table of driver calls is replaced by one that counts. A thousand launches of a
// kernel of one step, a thousand of a reduction with a workspace and a thousand of a kernel with
// tensor maps (where the device has them), a thousand selections, a thousand preparations; no
// result is looked at. Prints one JSON object:
//   launches, selections   how many of each
//   calls                  driver call -> how often
//   waits                  of those, the ones that wait for the device
//   memory_calls           of those, the ones that allocate or free device memory
//   maps_encoded           calls that encode a tensor map: none, the pointers stay
//   allocations            calls of operator new meanwhile
// Ends with 77 where there is no device.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/cuda/cuda_api.hpp"
#include "bench/launch/application.hpp"
#include "core/errors.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln::launch_bench {
namespace {

constexpr std::size_t kMostCalls = 96;
constexpr int kRounds = 1000;

struct CountedCall {
  std::string symbol;
  std::uint64_t count = 0;
};
std::array<CountedCall, kMostCalls> counted;

template <std::size_t Index, typename... Arguments>
struct Counting {
  static inline int (*real)(Arguments...) = nullptr;
  static int call(Arguments... arguments) {
    ++counted[Index].count;
    return real(arguments...);
  }
};

template <std::size_t Index, typename... Arguments>
void count(int (*&function)(Arguments...), const char* symbol) {
  static_assert(Index < kMostCalls);
  if (function == nullptr) return;
  Counting<Index, Arguments...>::real = function;
  function = &Counting<Index, Arguments...>::call;
  counted[Index].symbol = symbol;
}

void count_everything() {
  auto& api = const_cast<CudaApi&>(cuda());
#define KILN_COUNT_STREAM_CALL(member, symbol) count<__COUNTER__>(api.stream.member, #symbol);
#define KILN_COUNT_CALL(member, symbol, signature) count<__COUNTER__>(api.member, #symbol);
  KILN_CUDA_STREAM_CALLS(KILN_COUNT_STREAM_CALL)
  KILN_CUDA_CALLS(KILN_COUNT_CALL)
  count<__COUNTER__>(api.launch_kernel_ex, "cuLaunchKernelEx");
  count<__COUNTER__>(api.tensor_map_encode, "cuTensorMapEncodeTiled");
  count<__COUNTER__>(api.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
#undef KILN_COUNT_CALL
#undef KILN_COUNT_STREAM_CALL
}

void forget_counts() {
  for (CountedCall& call : counted) call.count = 0;
}

/// The sum of those whose name holds one of `parts`.
std::uint64_t sum_of(const std::vector<std::string>& parts) {
  std::uint64_t sum = 0;
  for (const CountedCall& call : counted) {
    for (const std::string& part : parts) {
      if (call.symbol.find(part) != std::string::npos) sum += call.count;
    }
  }
  return sum;
}

nlohmann::json report(std::uint64_t allocations) {
  nlohmann::json calls = nlohmann::json::object();
  for (const CountedCall& call : counted) {
    if (call.count > 0) calls[call.symbol] = call.count;
  }
  return {{"launches", 3 * kRounds},          {"maps_encoded", sum_of({"cuTensorMapEncode"})},
          {"selections", 2 * kRounds},        {"calls", calls},
          {"waits", sum_of({"Synchronize"})}, {"memory_calls", sum_of({"cuMemAlloc", "cuMemFree"})},
          {"allocations", allocations}};
}

nlohmann::json run(const std::string& cache) {
  const std::unique_ptr<Application> application = make_cuda_application();
  count_everything();  // before the launcher takes pointers out of the table
  Launcher::Options options = application->options();
  options.databases = {cache + "/none.db"};
  options.cache_folder = cache;
  options.kernel_paths = {KILN_SOURCE_DIR "/examples/bulk_transpose"};
  const Launcher launcher(options);
  const Launcher::Kernel with_maps = launcher.prepare("bulk_transpose", "rows=32 cols=32").value();
  const Launcher::Kernel transpose = launcher.prepare("transpose", "rows=32 cols=32").value();
  const Launcher::Kernel sum = launcher.prepare("reduce", "n=1000000").value();
  constexpr std::size_t kCount = 1'000'000;
  void* in = application->upload(kCount, 1);
  void* out = application->upload(kCount, 0);
  void* queue = application->queue();
  const std::size_t bytes = 32 * 32 * sizeof(float);
  bool refused = false;
  const auto round = [&] {
    const LaunchArgument square_in = memory("in", in, bytes);
    refused |= !transpose.launch(queue, {square_in, memory("out", out, bytes)}).has_value();
    refused |= !sum.launch(queue, {memory("in", in, kCount * sizeof(float)),
                                   memory("out", out, sizeof(float))})
                    .has_value();
    refused |= !with_maps.launch(queue, {square_in, memory("out", out, bytes)}).has_value();
    refused |= !launcher.select("transpose", "rows=32 cols=32").has_value();
    refused |= !launcher.prepare("reduce", "n=1000000").has_value();
  };
  round();
  round();
  forget_counts();
  const std::uint64_t before = test::allocations_of_this_thread();
  for (int i = 0; i < kRounds; ++i) round();
  const nlohmann::json counts = report(test::allocations_of_this_thread() - before);
  application->wait();
  if (refused) throw Error(ExitCode::internal, "a call was refused");
  return counts;
}

}  // namespace
}  // namespace kiln::launch_bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: kiln_launch_driver_calls CACHE\n", stderr);
    return 2;
  }
  try {
    std::puts(kiln::launch_bench::run(argv[1]).dump().c_str());
    return 0;
  } catch (const kiln::DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
