// Locks and recorded calls in the launcher: a lock goes before every database, and what is not
// tuned is written down once.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "lookup/call_records.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "wisdom/selection_lock.hpp"

namespace kiln {
namespace {

using test::LauncherFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = Launcher::Warning::Kind;

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

}  // namespace
}  // namespace kiln
