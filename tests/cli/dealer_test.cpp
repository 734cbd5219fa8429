// Which device gets a session, and shards.
// SPDX-License-Identifier: Apache-2.0
#include "cli/dealer.hpp"

#include <thread>

#include <fmt/format.h>

#include "cli/device_choice.hpp"
#include "cli/shard.hpp"
#include "db/store.hpp"
#include "kiln_program.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

using std::chrono::milliseconds;

// Which device gets which session of a sweep.

std::vector<Dealer::Session> sessions(const std::vector<double>& lengths) {
  std::vector<Dealer::Session> made;
  for (const double length : lengths) made.push_back({"p" + std::to_string(made.size()), length});
  return made;
}

TEST(Dealer, HandsOutTheLongestFirstAndEachOnce) {
  Dealer dealer(sessions({10, 60, 60, 30}), 2);
  EXPECT_EQ(dealer.next(0), 1U);
  EXPECT_EQ(dealer.next(1), 2U) << "equal lengths: in the plan's order";
  dealer.done(0);
  EXPECT_EQ(dealer.next(0), 3U);
  dealer.done(1);
  EXPECT_EQ(dealer.next(1), 0U);
  dealer.done(0);
  dealer.done(1);
  EXPECT_EQ(dealer.next(0), std::nullopt);
  EXPECT_EQ(dealer.left(), 0U);
}

TEST(Dealer, ADeviceWaitsForASessionThatMayComeBack) {
  Dealer dealer(sessions({10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  std::optional<std::size_t> got;
  std::thread other([&] { got = dealer.next(1); });
  dealer.give_back(0, Dealer::Begun::no);
  other.join();
  EXPECT_EQ(got, 0U);
}

TEST(Dealer, ASessionThatADeviceHasBegunIsTakenUpByOthersLast) {
  Dealer dealer(sessions({60, 10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  dealer.give_back(0, Dealer::Begun::yes);
  EXPECT_EQ(dealer.next(1), 1U) << "the device may be back soon";
  dealer.done(1);
  EXPECT_EQ(dealer.next(1), 0U) << "nothing else is left";
}

TEST(Dealer, ASessionOfAnEarlierRunWaitsForItsDevice) {
  std::vector<Dealer::Session> begun = sessions({60, 10});
  begun[0].begun_by = 1;
  Dealer dealer(begun, 2);
  EXPECT_EQ(dealer.next(0), 1U);
  EXPECT_EQ(dealer.next(1), 0U);
}

TEST(Dealer, OfADeviceThatLeftEverythingIsOpenToAll) {
  std::vector<Dealer::Session> begun = sessions({60, 10});
  begun[0].begun_by = 1;
  Dealer dealer(begun, 2);
  dealer.leave(1);
  EXPECT_EQ(dealer.next(0), 0U);
}

TEST(Dealer, EqualSessionsNeverRunAtTheSameTime) {
  Dealer dealer({{"same", 10}, {"same", 10}, {"other", 1}}, 2);
  EXPECT_EQ(dealer.next(0), 0U);
  EXPECT_EQ(dealer.next(1), 2U);
  dealer.done(0);
  EXPECT_EQ(dealer.next(0), 1U);
}

TEST(Dealer, APauseEndsWhenNothingIsLeft) {
  Dealer dealer(sessions({10}), 2);
  EXPECT_TRUE(dealer.pause(1, milliseconds(1))) << "time is over: try the device again";
  ASSERT_EQ(dealer.next(0), 0U);
  bool goes_on = true;
  std::thread other([&] { goes_on = dealer.pause(1, std::chrono::minutes(5)); });
  dealer.done(0);
  other.join();
  EXPECT_FALSE(goes_on);
}

TEST(Dealer, AStopEndsAllWaiting) {
  Dealer dealer(sessions({10}), 2);
  ASSERT_EQ(dealer.next(0), 0U);
  std::optional<std::size_t> got = 7;
  std::thread other([&] { got = dealer.next(1); });
  dealer.stop();
  other.join();
  EXPECT_EQ(got, std::nullopt);
  EXPECT_EQ(dealer.left(), 1U);
}

// Parts of a sweep for several hosts.

std::string trouble(const std::string& text) {
  try {
    (void)parse_shard(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Shards, AreWrittenAsPartAndNumberOfParts) {
  EXPECT_EQ(parse_shard("3/8").index, 3U);
  EXPECT_EQ(parse_shard("3/8").count, 8U);
  EXPECT_EQ(parse_shard("1/1").count, 1U);
  EXPECT_EQ(trouble("9/8"),
            "--shard '9/8': expected a part and the number of parts, from 1/N to N/N");
  for (const char* text : {"", "3", "0/8", "3/", "/8", "3/8/9", "-1/8", "3 /8", "a/b", "0/0",
                           "1/99999999999999999999999"})
    EXPECT_NE(trouble(text), "") << text;
}

TEST(Shards, ContainEachProblemOnce) {
  constexpr std::uint64_t kCount = 8;
  const KernelSpec spec = KernelLibrary().load("transpose");
  std::vector<int> sizes(kCount, 0);
  for (int rows = 1; rows <= 400; ++rows) {
    const Problem problem = Problem::parse(spec, fmt::format("rows={},cols=32,dtype=f32", rows));
    int found = 0;
    for (std::uint64_t index = 1; index <= kCount; ++index) {
      const bool is_in = has({index, kCount}, spec, problem);
      found += is_in ? 1 : 0;
      sizes[index - 1] += is_in ? 1 : 0;
    }
    EXPECT_EQ(found, 1) << rows;
  }
  for (const int size : sizes) {
    EXPECT_GT(size, 25);
    EXPECT_LT(size, 75);
  }
}

class ShardedSweep : public TuningTest {};

TEST_F(ShardedSweep, MergesIntoTheWholePlan) {
  std::string plan =
      "name = \"shared\"\n[defaults]\ntrials = 2\n[[kernels]]\nkernel = \"" KILN_SOURCE_DIR
      "/tests/cli/kernels/scale\"\nproblems = [";
  for (int i = 0; i < 4; ++i) plan += fmt::format("\"n={}\", ", 100 + i);
  write("plan.toml", plan + "]\n");
  const auto sweep = [&](const std::string& shard, const std::string& database) {
    return kiln({"sweep", "plan.toml", "--device", "opencl", "--warm-cache", "--shard", shard,
                 "--compile-workers", "1", "--quiet", "--db", database});
  };
  for (const char* part : {"1", "2", "3"}) {
    const Output output = sweep(std::string(part) + "/3", std::string(part) + ".db");
    EXPECT_EQ(output.exit_code, 0) << output.err;
  }
  ASSERT_EQ(kiln("db merge --into all.db 1.db 2.db 3.db").exit_code, 0);
  const Store merged(folder_ / "all.db", Store::Mode::read);
  EXPECT_EQ(merged.bests("scale").size(), 4U);
  EXPECT_EQ(merged.sessions().size(), 4U);
}

TEST_F(ShardedSweep, WithoutAProblemSaysSo) {
  write("plan.toml", "name = \"one\"\n[[kernels]]\nkernel = \"" KILN_SOURCE_DIR
                     "/tests/cli/kernels/scale\"\nproblems = [\"n=100\"]\n");
  int empty = 0;
  std::string empty_shard;
  for (const char* shard : {"1/2", "2/2"}) {
    const Output output = kiln({"sweep", "plan.toml", "--device", "opencl", "--shard", shard,
                                "--trials", "2", "--quiet", "--db", "kiln.db"});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    if (output.out != fmt::format("shard {} has no session of this plan\n", shard)) continue;
    ++empty;
    empty_shard = shard;
  }
  EXPECT_EQ(empty, 1);
  EXPECT_EQ(kiln({"sweep", "plan.toml", "--shard", empty_shard, "--db", "empty.db"}).exit_code, 0);
  EXPECT_EQ(kiln("db check empty.db").out, "empty.db: sound\n") << "it can be merged";
  EXPECT_EQ(kiln("sweep plan.toml --shard 0/2").exit_code, 2);
}

// Which device a word means: GPUs before CPUs, in the order of the backends.

DeviceInfo device(const std::string& backend, int ordinal, bool is_cpu) {
  DeviceInfo info;
  info.backend = backend;
  info.ordinal = ordinal;
  info.is_cpu = is_cpu;
  return info;
}

std::string chosen(const std::vector<BackendDevices>& backends, const std::string& text) {
  const DeviceInfo* found = find_device(backends, text);
  return found == nullptr ? "none" : selector_of(*found);
}

const BackendDevices kNoCuda = {"cuda", {}, "unavailable: no driver"};
const BackendDevices kCuda = {"cuda", {device("cuda", 0, false), device("cuda", 1, false)}, ""};
const BackendDevices kMixedOpencl = {
    "opencl", {device("opencl", 0, true), device("opencl", 1, false)}, ""};
const BackendDevices kCpuOpencl = {
    "opencl", {device("opencl", 0, true), device("opencl", 1, true)}, ""};

TEST(FindDevice, AutoIsTheFirstGpuInTheOrderOfTheBackends) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "auto"), "cuda:0");
  EXPECT_EQ(chosen({kNoCuda, kMixedOpencl}, "auto"), "opencl:1");
}

TEST(FindDevice, AutoTakesACpuWhereThereIsNoGpu) {
  EXPECT_EQ(chosen({kNoCuda, kCpuOpencl}, "auto"), "opencl:0");
  EXPECT_EQ(chosen({kNoCuda}, "auto"), "none");
}

TEST(FindDevice, ABackendMeansItsGpuThenItsCpu) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "opencl"), "opencl:1");
  EXPECT_EQ(chosen({kCuda, kCpuOpencl}, "opencl"), "opencl:0");
  EXPECT_EQ(chosen({kNoCuda, kCpuOpencl}, "cuda"), "none");
}

TEST(FindDevice, ANumberMeansThatDevice) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "opencl:0"), "opencl:0");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "cuda:1"), "cuda:1");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "cuda:2"), "none");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "rocm"), "none");
}

std::string all(const std::vector<BackendDevices>& backends) {
  std::string text;
  for (const DeviceInfo& device : all_devices(backends)) text += selector_of(device) + " ";
  return text;
}

TEST(AllDevices, AreTheGpusEachThroughOneBackend) {
  BackendDevices cuda = kCuda;
  for (DeviceInfo& gpu : cuda.devices) gpu.vendor = "nvidia";
  BackendDevices opencl = {
      "opencl",
      {device("opencl", 0, true), device("opencl", 1, false), device("opencl", 2, false)},
      ""};
  opencl.devices[1].vendor = "nvidia";
  opencl.devices[2].vendor = "intel";
  EXPECT_EQ(all({cuda, opencl}), "cuda:0 cuda:1 opencl:2 ");
  EXPECT_EQ(all({kNoCuda, opencl}), "opencl:1 opencl:2 ");
}

TEST(AllDevices, AreTheCpusWhereThereIsNoGpu) {
  EXPECT_EQ(all({kNoCuda, kCpuOpencl}), "opencl:0 opencl:1 ");
  EXPECT_EQ(all({kNoCuda}), "");
}

TEST(ShortReason, LeavesOutMostOfTheFilesThatWereLookedFor) {
  EXPECT_EQ(
      short_reason("unavailable: NVRTC library not found (no a.so, /b/a.so, /c/a.so, /d/a.so)"),
      "unavailable: NVRTC library not found (no a.so, /b/a.so and 2 more: kiln devices -v)");
  const std::string few =
      "unavailable: CUDA driver library not found (no libcuda.so.1, libcuda.so)";
  EXPECT_EQ(short_reason(few), few);
  EXPECT_EQ(short_reason("unavailable: hipInit: 101"), "unavailable: hipInit: 101");
  EXPECT_EQ(short_reason("odd (no end, of, it, at all"), "odd (no end, of, it, at all");
}

}  // namespace
}  // namespace kiln::cli
