// Locks, and kernels built ahead.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "lookup/call_records.hpp"
#include "tests/launcher/command_output.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"
#include "wisdom/selection_lock.hpp"

namespace kiln {
namespace {

using Kind = Launcher::Warning::Kind;
using test::command_output;
using test::LauncherFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Locks and recorded calls in the launcher: a lock goes before every database, and what is not
// tuned is written down once.

BestRecord ticket(const DeviceInfo& device) {
  BestRecord best;
  best.key = {.kernel = "reduce",
              .spec_hash = "",
              .problem = "",
              .device = identity_of(device),
              .driver = "another",
              .compiler = "another",
              .tool_version = "",
              .strategy = "",
              .seed = 0,
              .options = ""};
  best.device_info = device;
  best.problem_json = R"({"n": 5000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})";
  best.config = {"ticket", {{"block_size", std::int64_t{64}}}};
  best.time_ns = 1;
  best.verdict = Verdict::better;
  best.published_at = "2026-01-02T03:04:05Z";
  best.evidence = R"({"finalists":[]})";
  return best;
}

std::string write_lock(const LauncherFolder& folder, const std::string& text) {
  const std::string path = folder / "job.lock";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(LauncherLock, GoesBeforeTheDatabases) {
  const LauncherFolder folder;
  const DeviceInfo device = make_backend("opencl")->devices().at(0);
  Launcher::Options options = folder.options();
  options.lock = write_lock(folder, write_selection_lock({{ticket(device)}}));
  const Launcher launcher(options);
  EXPECT_TRUE(launcher.warnings().empty()) << "the missing database is not asked";
  const Launcher::Match exact = *launcher.select("reduce", "n=5000 dtype=f32").value();
  EXPECT_THAT(exact.config, StartsWith("ticket:block_size=64"));
  EXPECT_EQ(exact.grade, Launcher::Grade::exact);
  EXPECT_TRUE(exact.stale);
  EXPECT_EQ(launcher.select("reduce", "n=9000 dtype=f32").value()->grade,
            Launcher::Grade::near_size);
}

TEST(LauncherLock, OneThatDoesNotFitIsATypedWarning) {
  const LauncherFolder folder;
  DeviceInfo other = make_backend("opencl")->devices().at(0);
  other.name = "Another device";
  Launcher::Options options = folder.options();
  options.lock = write_lock(folder, write_selection_lock({{ticket(other)}}));
  const Launcher unfit(options);
  ASSERT_EQ(unfit.warnings().size(), 1U);
  EXPECT_EQ(unfit.warnings()[0].kind, Kind::lock_unfit);
  EXPECT_THAT(unfit.warnings()[0].message, HasSubstr("job.lock: was made for other devices than "));

  options.lock = write_lock(folder, "{\"kiln_lock\":1,\"content\":\"00\"}\n");
  const Launcher damaged(options);
  ASSERT_GE(damaged.warnings().size(), 1U);
  EXPECT_EQ(damaged.warnings()[0].kind, Kind::lock_unusable);
  EXPECT_THAT(damaged.warnings()[0].message, HasSubstr("job.lock:1: the lock was changed"));
  EXPECT_EQ(damaged.select("reduce", "n=5000 dtype=f32").value()->grade, Launcher::Grade::fallback);

  options.lock = folder / "none.lock";
  EXPECT_EQ(Launcher(options).warnings().at(0).kind, Kind::lock_unusable);

  options.lock = folder / ".";
  EXPECT_EQ(Launcher(options).warnings().at(0).kind, Kind::lock_unusable) << "a folder";
}

TEST(LauncherLock, NothingIsTunedBesideIt) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.lock =
      write_lock(folder, write_selection_lock({{ticket(make_backend("opencl")->devices().at(0))}}));
  options.tune_on_miss = Launcher::TuneOnMiss::first_use;
  options.tuner = "/bin/false";
  const Launcher launcher(options);
  EXPECT_EQ(launcher.select("reduce", "n=9000 dtype=f32").value()->grade,
            Launcher::Grade::near_size);
  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.failed, 0U);
  ASSERT_EQ(state.warnings.size(), 1U);
  EXPECT_EQ(state.warnings[0].kind, Kind::tuning_unavailable);
  EXPECT_EQ(state.warnings[0].message, "tune_on_miss: a lock pins the selection; nothing is tuned");
}

TEST(LauncherCalls, WhatIsNotTunedIsWrittenDownOnce) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.lock =
      write_lock(folder, write_selection_lock({{ticket(make_backend("opencl")->devices().at(0))}}));
  options.statistics = folder / "calls.jsonl";
  const Launcher launcher(options);
  for (const char* problem : {"n=5000 dtype=f32", "n=9000 dtype=f32", "dtype=f32 n=9000"}) {
    EXPECT_TRUE(launcher.select("reduce", problem));
    EXPECT_TRUE(launcher.select("reduce", problem));
  }
  std::ifstream file(options.statistics, std::ios::binary);  // while the program runs
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const CallList list = read_calls(text, "c");
  ASSERT_EQ(list.records.size(), 1U) << "n=5000 is exact";
  EXPECT_THAT(list.records[0].problem, StartsWith("n=9000 "));
  EXPECT_EQ(list.records[0].grade, "near_size");
  EXPECT_EQ(list.records[0].calls(), 0) << "counted when the program ends";
}

TEST(LauncherCalls, AFileForCallsThatCannotBeWrittenIsAWarning) {
  const LauncherFolder folder;
  std::ofstream(folder / "file") << "";
  Launcher::Options options = folder.options();
  options.statistics = folder / "file/below";
  const Launcher launcher(options);
  ASSERT_EQ(launcher.warnings().size(), 2U);  // the database is missing as well
  EXPECT_EQ(launcher.warnings()[1].kind, Launcher::Warning::Kind::statistics_unusable);
  EXPECT_EQ(launcher.warnings()[1].message,
            (folder / "file/below") + ": cannot be made, for " + (folder / "file") +
                " is no folder; calls are counted and not written down");
  EXPECT_TRUE(launcher.select("reduce", "n=9000 dtype=f32"));
}

// `kiln prebuild` and `kiln export`: what they write is what a launcher finds, and what a compiler
// takes.

class Prebuild : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }

  [[nodiscard]] std::string kiln(const std::string& words) const {
    return command_output("cd '" + (folder_ / ".") +
                          "' && env -u KILN_DB XDG_DATA_HOME=none '" KILN_PROGRAM "' " + words +
                          " 2>&1");
  }
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  LauncherFolder folder_;
};

TEST_F(Prebuild, FillsTheCacheForAMachineWithoutACompiler) {
  const std::string words =
      "prebuild reduce --problem n=1000 --problem n=1048576 --arch sm_90a --cache cache";
  const std::string built = kiln(words);
  EXPECT_THAT(built, StartsWith("compiled       reduce  n=1000  "));
  EXPECT_THAT(built, HasSubstr("\n2 problems in "));
  EXPECT_THAT(built, HasSubstr(" binaries for sm_90a in cache\n"));
  const std::string again = kiln(words);
  EXPECT_THAT(again, StartsWith("there already  reduce  n=1000  "));
  EXPECT_THAT(again, HasSubstr("there already  reduce  n=1048576  "));
  EXPECT_THAT(again, Not(HasSubstr("compiled")));
}

// What a device that was tuned on runs is not always what one that nobody knows runs: both are
// there.
TEST_F(Prebuild, OfAnArchitectureIsForItsKnownDevicesToo) {
  test::store_best(folder_ / "sister.db",
                   {"reduce",
                    "n=1024 dtype=f32 op=sum map=x source=array",
                    R"({"n": 1024, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})",
                    {"ticket", {{"block_size", std::int64_t{64}}}}},
                   [](DeviceInfo& device) {
                     device.backend = "cuda";
                     device.vendor = "nvidia";
                     device.name = "A sister";
                     device.architecture = "sm_90a";
                     device.warp_size = 32;
                     device.is_cpu = false;
                   });
  const std::string built =
      kiln("prebuild reduce --problem n=1024 --arch sm_90a --cache cache --db sister.db");
  EXPECT_THAT(built, HasSubstr("(same_arch on H200 (made up))\n"));
  EXPECT_THAT(built, HasSubstr("ticket:block_size=64"));
  EXPECT_THAT(built, HasSubstr("(exact on A sister)\n"));
  EXPECT_THAT(built, HasSubstr("1 problem in 2 binaries for sm_90a in cache\n"));
  EXPECT_THAT(command_output("KILN_DB=/nowhere/none.db KILN_NVRTC_PATH=/nowhere '" KILN_FIRST_LAUNCH
                             "' '' '" +
                             (folder_ / "cache") + "' reduce n=1024"),
              StartsWith("cache "));
}

TEST_F(Prebuild, TakesTheProblemsOfAPlan) {
  std::ofstream(folder_ / "p.toml") << "[[session]]\nkernel = \"transpose\"\n"
                                       "problems = [\"rows=8 cols=8\", \"rows=8 columns=8\"]\n";
  EXPECT_THAT(kiln("prebuild --plan p.toml --arch sm_90a --cache cache"), HasSubstr("p.toml:"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));  // all is checked first
}

TEST_F(Prebuild, NamesMistakes) {
  EXPECT_EQ(
      kiln("prebuild"),
      "kiln: error: prebuild takes a kernel with --problem, or --plan FILE, one of the two\n");
  EXPECT_EQ(kiln("prebuild reduce"), "kiln: error: prebuild KERNEL needs at least one --problem\n");
  EXPECT_EQ(kiln("prebuild reduce --problem n=4 --arch sm_90a --cache /proc/x"),
            "kiln: error: the cache cannot be used: /proc/x: cannot be created: No such file or "
            "directory\n");
  ::setenv("KILN_CACHE_LIMIT", "abc", 1);
  EXPECT_EQ(kiln("prebuild reduce --problem n=4 --arch sm_90a --cache cache"),
            "kiln: error: KILN_CACHE_LIMIT is 'abc', which is no size of a cache: expected bytes, "
            "or a number with K, M or G, such as 512M\n");
  ::unsetenv("KILN_CACHE_LIMIT");
  EXPECT_EQ(kiln("export reduce --problem n=4 --arch sm_90a"),
            "kiln: error: export needs at least one of --source, --cubin and --header, each with a "
            "folder\n");
  EXPECT_EQ(kiln("export reduce --problem n=4 --problem n=4,dtype=f64 --arch sm_90a --header h"),
            "kiln: error: the problems of a header may differ in sizes only: 'dtype' is f32 and "
            "f64\n");
}

// All that cuTensorMapEncodeTiled has to be told.
TEST_F(Prebuild, ExportTellsOfTensorMaps) {
  const std::string kernel = KILN_SOURCE_DIR "/examples/bulk_transpose";
  EXPECT_EQ(kiln("export " + kernel + " --problem rows=64,cols=96 --arch sm_90a --source s"),
            "s/bulk_transpose.cu\ns/bulk_transpose.json\n");
  const std::string json = read("s/bulk_transpose.json");
  EXPECT_THAT(json, HasSubstr("\"tensor_maps\""));
  EXPECT_THAT(json, HasSubstr("\"swizzle_bytes\": 128"));
  EXPECT_EQ(kiln("export " + kernel + " --problem rows=64,cols=96 --arch sm_90a --header h"),
            "h/bulk_transpose.hpp\n");
  std::ofstream(folder_ / "maps.cpp")
      << "#include \"h/bulk_transpose.hpp\"\n"
         "#include <cstdio>\n"
         "int main() {\n"
         "  const auto& entry = kiln_export::bulk_transpose::kEntries[0];\n"
         "  for (std::size_t i = 0; i < entry.tensor_map_count; ++i) {\n"
         "    const auto& map = entry.tensor_maps[i];\n"
         "    std::printf(\"%s of %s: %u, %lld x %lld, %lld, %u\\n\", map.name.data(),\n"
         "                map.buffer.data(), map.rank, (long long)map.shape[0],\n"
         "                (long long)map.shape[1], (long long)map.stride_bytes[0],\n"
         "                map.swizzle_bytes);\n"
         "  }\n"
         "  std::puts(entry.steps[0].arguments.data());\n"
         "}\n";
  EXPECT_EQ(command_output("cd '" + (folder_ / ".") +
                           "' && '" KILN_CXX "' -std=c++17 -Wall -Wextra -Wpedantic -Werror "
                           "maps.cpp -o maps 2>&1 && ./maps"),
            "in_map of in: 2, 64 x 96, 384, 128\nout_map of out: 2, 96 x 64, 256, 128\n"
            "in_map out_map\n");
}

TEST_F(Prebuild, ExportWritesFilesThatStandAlone) {
  EXPECT_EQ(kiln("export transpose --problem rows=8,cols=9 --arch sm_90a --source s --cubin b"),
            "s/transpose.cu\ns/transpose.json\nb/transpose.cubin\n");
  EXPECT_THAT(read("s/transpose.cu"), HasSubstr("Variant "));
  EXPECT_THAT(read("s/transpose.json"),
              HasSubstr("\"problem\": \"rows=8 cols=9 batch=1 dtype=f32\""));
  EXPECT_THAT(read("b/transpose.cubin"), StartsWith("\177ELF"));

  EXPECT_EQ(kiln("export reduce --problem n=1000 --problem n=5000 --arch sm_90a --header h"),
            "h/reduce.hpp\n");
  std::ofstream(folder_ / "use.cpp")
      << "#include \"h/reduce.hpp\"\n"
         "#include <cstdio>\n"
         "int main() {\n"
         "  auto sizes = kiln_export::reduce::kEntries[1].sizes;\n"
         "  std::puts(kiln_export::reduce::find(sizes)->problem.data());\n"
         "  sizes.n = 7;\n"
         "  return kiln_export::reduce::find(sizes) == nullptr ? 0 : 1;\n"
         "}\n";
  EXPECT_THAT(
      command_output("cd '" + (folder_ / ".") +
                     "' && '" KILN_CXX "' -std=c++17 -Wall -Wextra -Wpedantic -Werror use.cpp "
                     "-o use 2>&1 && ./use && echo good"),
      ::testing::MatchesRegex("n=5000 [^\n]*\ngood\n"));
}

}  // namespace
}  // namespace kiln
