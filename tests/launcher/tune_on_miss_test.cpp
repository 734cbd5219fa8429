// tune_on_miss: what is not known is tuned by another process, the next call sees it, and whatever
// goes wrong there is a warning.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace {

std::atomic<bool> g_no_threads = false;

}  // namespace

// In front of the system's own, for the launcher too.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*work)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return g_no_threads ? EAGAIN : real(thread, attributes, work, argument);
}

namespace kiln {
namespace {

using test::error_text;
using test::LauncherFolder;
using test::OpenClApplication;
using test::store_best;
using test::Tuned;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = Launcher::Warning::Kind;
using TuneOnMiss = Launcher::TuneOnMiss;

const Tuned kWide = {"transpose",
                     "rows=64 cols=32 batch=1 dtype=f32",
                     R"({"rows": 64, "cols": 32, "batch": 1, "dtype": "f32"})",
                     {"tile", {{"tile_cols", std::int64_t{64}}}}};
constexpr const char* kProblem = "rows=64 cols=32";

class TuneOnMissTest : public ::testing::Test {
 protected:
  /// On the application's queue, tuned by `script` in place of the program.
  [[nodiscard]] Launcher::Options options(const std::string& script) const {
    const std::string tuner = folder_ / "tuner";
    std::ofstream(tuner) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(tuner, std::filesystem::perms::owner_all);
    Launcher::Options options = folder_.options();
    options.tuner = tuner;
    options.tune_on_miss = TuneOnMiss::background;
    return options;
  }
  /// The start of a script that waits for go().
  [[nodiscard]] std::string waits() const {
    return "while [ ! -e '" + (folder_ / "go") + "' ]; do sleep 0.02; done; ";
  }
  void go() const { std::ofstream(folder_ / "go") << "go"; }
  /// A script that leaves the database as a session of kWide would, and its arguments.
  [[nodiscard]] std::string tunes_wide() const {
    store_best(folder_ / "tuned.db", kWide);
    return "cd '" + (folder_ / ".") + "'; echo \"$@\" >> asked; cp tuned.db kiln.db";
  }
  [[nodiscard]] std::string asked() const {
    std::ifstream file(folder_ / "asked");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  LauncherFolder folder_;
};

TEST_F(TuneOnMissTest, AThreadThatTheSystemRefusesIsAWarningAndTheNextMissTriesAgain) {
  const Launcher launcher(options(tunes_wide()));
  g_no_threads = true;
  EXPECT_EQ(launcher.select("transpose", kProblem).value()->grade, Launcher::Grade::fallback);
  g_no_threads = false;
  const Launcher::Tuning refused = launcher.tuning().value();
  EXPECT_EQ(refused.waiting, 0U);
  ASSERT_EQ(refused.warnings.size(), 1U);
  EXPECT_THAT(refused.warnings[0].message, HasSubstr("starts no further thread"));
  // What was asked is answered from memory; another text of the problem misses again.
  constexpr const char* kOther = "cols=32 rows=64";
  EXPECT_EQ(launcher.select("transpose", kOther).value()->grade, Launcher::Grade::fallback);
  ASSERT_TRUE(launcher.wait_for_tuning(60).value());
  EXPECT_EQ(launcher.select("transpose", kOther).value()->grade, Launcher::Grade::exact);
}

TEST_F(TuneOnMissTest, SecondsThatAreNoNumberAreRefused) {
  const Launcher launcher(options("exit 1"));
  const Expected<bool> refused = launcher.wait_for_tuning(std::nan(""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, LaunchErrorCode::bad_argument);
}

TEST_F(TuneOnMissTest, IsOffByDefault) {
  Launcher::Options given = options("touch '" + (folder_ / "asked") + "'");
  given.tune_on_miss = Launcher::Options().tune_on_miss;
  const Launcher launcher(given);
  ASSERT_TRUE(launcher.select("transpose", kProblem));
  EXPECT_TRUE(launcher.wait_for_tuning(0).value());
  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.tuned + state.failed + state.waiting + state.warnings.size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "asked"));
}

TEST_F(TuneOnMissTest, InTheBackgroundTheNextCallSeesTheNewBest) {
  const Launcher launcher(options(waits() + tunes_wide()));
  const Launcher::MatchHandle before = launcher.select("transpose", kProblem).value();
  const Launcher::Kernel kept = launcher.prepare("transpose", kProblem).value();
  EXPECT_EQ(before->grade, Launcher::Grade::fallback);
  go();
  ASSERT_TRUE(launcher.wait_for_tuning(60).value());

  const Launcher::Match after = *launcher.select("transpose", kProblem).value();
  EXPECT_EQ(after.grade, Launcher::Grade::exact);
  EXPECT_THAT(after.config, HasSubstr("tile_cols=64"));
  const Launcher::Kernel kernel = launcher.prepare("transpose", kProblem).value();
  EXPECT_EQ(kernel.match().config, after.config);
  EXPECT_EQ(kept.match().grade, Launcher::Grade::fallback) << "what the application holds stays";
  EXPECT_EQ(before->grade, Launcher::Grade::fallback);

  OpenClApplication& application = OpenClApplication::instance();
  const std::vector<float> in = test::odd_numbers<float>(64 * 32);
  const cl_mem out = application.allocate(in.size() * 4);
  for (const Launcher::Kernel& each : {kept, kernel}) {
    const cl_mem from = application.upload(in);
    each.launch(nullptr, {memory("in", from, in.size() * 4), memory("out", out, in.size() * 4)})
        .value();
    EXPECT_EQ(application.download<float>(out, in.size())[1], in[32]);
  }

  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.tuned, 1U);
  EXPECT_EQ(state.failed, 0U);
  EXPECT_EQ(state.waiting, 0U);
  EXPECT_GT(state.seconds, 0);
  EXPECT_TRUE(state.warnings.empty());
}

TEST_F(TuneOnMissTest, EveryTextOfTheProblemIsTunedOnceAndSeesIt) {
  const Launcher launcher(options(waits() + tunes_wide()));
  const char* texts[] = {kProblem, "cols=32 rows=64", "rows=64 cols=32 dtype=f32"};
  for (const char* text : texts) {
    EXPECT_EQ(launcher.select("transpose", text).value()->grade, Launcher::Grade::fallback);
  }
  go();
  ASSERT_TRUE(launcher.wait_for_tuning(60).value());
  for (const char* text : texts) {
    EXPECT_EQ(launcher.select("transpose", text).value()->grade, Launcher::Grade::exact) << text;
  }
  const std::string said = asked();
  EXPECT_THAT(said, StartsWith("tune transpose --problem rows=64 cols=32 batch=1 dtype=f32 "
                               "--device opencl:"));
  EXPECT_THAT(said, HasSubstr(" --db " + (folder_ / "kiln.db") + " --quiet --seconds "));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(TuneOnMissTest, OnFirstUseTheFirstCallWaits) {
  Launcher::Options given = options(tunes_wide());
  given.tune_on_miss = TuneOnMiss::first_use;
  const Launcher launcher(given);
  EXPECT_EQ(launcher.prepare("transpose", kProblem).value().match().grade, Launcher::Grade::exact);
  EXPECT_EQ(launcher.select("transpose", kProblem).value()->grade, Launcher::Grade::exact);
}

TEST_F(TuneOnMissTest, AFailureIsAWarningAndIsNotTriedAgain) {
  Launcher::Options given =
      options("echo x >> '" + (folder_ / "asked") + "'; echo 'kiln: error: no luck' >&2; exit 4");
  given.tune_on_miss = TuneOnMiss::first_use;
  const Launcher launcher(given);
  EXPECT_EQ(launcher.select("transpose", kProblem).value()->grade, Launcher::Grade::fallback);
  EXPECT_EQ(launcher.prepare("transpose", kProblem).value().match().grade,
            Launcher::Grade::fallback);
  EXPECT_EQ(asked(), "x\n");
  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.failed, 1U);
  ASSERT_EQ(state.warnings.size(), 1U);
  EXPECT_EQ(state.warnings[0].kind, Kind::tuning_failed);
  EXPECT_EQ(state.warnings[0].message,
            "transpose rows=64 cols=32 batch=1 dtype=f32: `kiln tune` ended with exit code 4: no "
            "luck");
}

TEST_F(TuneOnMissTest, ADatabaseThatItDamagedIsAWarningToo) {
  Launcher::Options given = options("head -c 5000 /dev/zero > '" + (folder_ / "kiln.db") + "'");
  given.tune_on_miss = TuneOnMiss::first_use;
  const Launcher launcher(given);
  EXPECT_EQ(launcher.select("transpose", kProblem).value()->grade, Launcher::Grade::fallback);
  const Launcher::Tuning state = launcher.tuning().value();
  ASSERT_EQ(state.warnings.size(), 1U);
  EXPECT_EQ(state.warnings[0].kind, Kind::tuning_failed);
  EXPECT_THAT(state.warnings[0].message, HasSubstr((folder_ / "kiln.db") + ": "));
}

TEST_F(TuneOnMissTest, WaitsForAnotherProcessThatWritesTheDatabase) {
  Launcher::Options given = options(
      "cd '" + (folder_ / ".") + "'; if [ -e once ]; then " + tunes_wide() +
      "; else touch once; echo 'kiln: error: kiln.db: is being written by process 7; wait' >&2; "
      "exit 5; fi");
  const Launcher launcher(given);
  ASSERT_TRUE(launcher.select("transpose", kProblem));
  ASSERT_TRUE(launcher.wait_for_tuning(60).value());
  EXPECT_EQ(launcher.tuning().value().tuned, 1U);
}

TEST_F(TuneOnMissTest, TheBudgetEndsIt) {
  Launcher::Options given = options("sleep 1.2");
  given.tune_on_miss = TuneOnMiss::first_use;
  given.tune_budget_seconds = 2;
  const Launcher launcher(given);
  for (const char* problem : {"rows=1 cols=1", "rows=2 cols=2", "rows=3 cols=3"}) {
    EXPECT_EQ(launcher.select("transpose", problem).value()->grade, Launcher::Grade::fallback);
  }
  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.failed, 1U) << "the others were not begun";
  ASSERT_EQ(state.warnings.size(), 2U);
  EXPECT_EQ(state.warnings[1].kind, Kind::tuning_budget_used);
  EXPECT_EQ(state.warnings[1].message,
            "tune_on_miss: the budget of 2 s is used up; other problems are not tuned");
}

TEST_F(TuneOnMissTest, WithoutTheProgramTheAnswerIsAWarning) {
  Launcher::Options given = options("");
  given.tuner = "/nowhere/kiln";
  const Launcher launcher(given);
  EXPECT_EQ(launcher.select("transpose", kProblem).value()->grade, Launcher::Grade::fallback);
  const Launcher::Tuning state = launcher.tuning().value();
  EXPECT_EQ(state.waiting, 0U);
  ASSERT_EQ(state.warnings.size(), 1U);
  EXPECT_EQ(state.warnings[0].kind, Kind::tuning_unavailable);
  EXPECT_EQ(state.warnings[0].message,
            "tune_on_miss: /nowhere/kiln is no program; install Kiln's program or name it in "
            "Options::tuner; nothing is tuned");
}

TEST_F(TuneOnMissTest, ALauncherMayGoWhileItTunes) {
  {
    const Launcher launcher(options("echo x >> '" + (folder_ / "asked") + "'; exec sleep 1000"));
    ASSERT_TRUE(launcher.select("transpose", kProblem));
    while (asked().empty()) std::this_thread::yield();
    EXPECT_FALSE(launcher.wait_for_tuning(0).value());
  }
  SUCCEED() << "the end of the launcher ended the session";
}

TEST_F(TuneOnMissTest, ThreadsThatSelectMeanwhileSeeOneOrTheOther) {
  const Launcher launcher(options("sleep 0.5; " + tunes_wide()));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string text = i % 2 == 0 ? kProblem : "cols=32 rows=64";
      bool was_exact = false;
      for (int after = 0; after < 1000 && std::chrono::steady_clock::now() < deadline;) {
        const bool is_exact =
            launcher.select("transpose", text).value()->grade == Launcher::Grade::exact;
        if (was_exact && !is_exact) return;  // never back again
        was_exact = is_exact;
        after += was_exact ? 1 : 0;
      }
      good += was_exact ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

/// A copy of tests/cli/kernels/scale with two configs.
void copy_small_kernel(const std::filesystem::path& to) {
  std::filesystem::copy(KILN_SOURCE_DIR "/tests/cli/kernels/scale", to);
  std::ifstream file(to / "spec.toml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  file.close();
  for (const auto& [from, instead] :
       {std::pair("values = [1, 2, 4, 8, 16, 32, 64, 128]", "values = [32, 64]"),
        std::pair("values = [1, 2, 4, 8]", "values = [1]")}) {
    text.replace(text.find(from), std::string_view(from).size(), instead);
  }
  std::ofstream(to / "spec.toml") << text;
}

// The real program on the real device; the session ends when every config was tried.
TEST_F(TuneOnMissTest, TheInstalledProgramTunes) {
  std::filesystem::create_directory(folder_ / "kernels");
  copy_small_kernel(folder_ / "kernels/scale");
  Launcher::Options given = options("");
  given.tuner = KILN_PROGRAM;
  given.kernel_paths = {folder_ / "kernels"};
  given.tune_seconds = 120;
  const Launcher launcher(given);
  EXPECT_EQ(launcher.select("scale", "n=100").value()->grade, Launcher::Grade::fallback);
  ASSERT_TRUE(launcher.wait_for_tuning(240).value());
  const Launcher::Tuning state = launcher.tuning().value();
  ASSERT_EQ(state.tuned, 1U) << (state.warnings.empty() ? "" : state.warnings[0].message);
  const Launcher::Kernel kernel = launcher.prepare("scale", "n=100").value();
  EXPECT_EQ(kernel.match().grade, Launcher::Grade::exact);
  EXPECT_FALSE(kernel.match().stale);
  OpenClApplication& application = OpenClApplication::instance();
  const cl_mem x = application.upload(std::vector<float>(100, 3.0F));
  const cl_mem y = application.allocate(400);
  kernel.launch(nullptr, {memory("x", x, 400), memory("y", y, 400)}).value();
  EXPECT_EQ(application.download<float>(y, 100)[99], 6.0F);
}

}  // namespace
}  // namespace kiln
