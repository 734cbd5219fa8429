// A session that is stopped from outside, and what others may do while it runs.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::EndsWith;

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kPatience{120};

class Interrupted : public TuningTest {
 protected:
  /// Reads the session as `kiln show` sees it, beside the one that writes.
  [[nodiscard]] std::vector<std::string> stored_configs() const {
    const Output output = kiln("show latest --json --db kiln.db");
    std::vector<std::string> configs;
    const Json session = Json::parse(output.out, nullptr, false);
    if (session.is_discarded()) return configs;  // not begun yet
    for (const Json& row : session["rows"]) configs.push_back(row["config"].dump());
    return configs;
  }

  void wait_for_trials(RunningKiln& running, std::size_t count) const {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (stored_configs().size() < count) {
      ASSERT_FALSE(running.has_ended()) << running.output().out << running.output().err;
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "too few trials";
      std::this_thread::sleep_for(kPoll);
    }
  }

  [[nodiscard]] std::string state() const {
    return kiln_json("show latest --json --db kiln.db")["state"];
  }
};

TEST_F(Interrupted, ByAKillTheSameCommandGoesOnAndRepeatsNothing) {
  const Words words = tune_scale("--trials 8 --strategy random");
  std::vector<std::string> before;
  {
    RunningKiln running(folder_, words);
    wait_for_trials(running, 3);
    running.signal(SIGKILL);
    EXPECT_EQ(running.output().exit_code, -1);
    before = stored_configs();
    ASSERT_LT(before.size(), 8U) << "the kill came too late to show anything";
    EXPECT_EQ(state(), "running") << "a killed process could not say that it ended";
  }
  const Output again = kiln(words);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("session 1 (continues after " + std::to_string(before.size()) +
                                   " trials)"));

  const std::vector<std::string> after = stored_configs();
  ASSERT_EQ(after.size(), 8U);
  EXPECT_EQ(std::set<std::string>(after.begin(), after.end()).size(), 8U) << "a config twice";
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "a trial was lost";
  EXPECT_EQ(state(), "finished");
  EXPECT_EQ(kiln("db check kiln.db").out, "kiln.db: sound\n");
}

TEST_F(Interrupted, ByCtrlCItKeepsItsTrialsAndSaysHowToGoOn) {
  RunningKiln running(folder_, tune_scale("--seconds 300 --strategy exhaustive"));
  wait_for_trials(running, 1);
  running.signal(SIGINT);
  const Output output = running.output();
  EXPECT_EQ(output.exit_code, 130);
  EXPECT_THAT(output.out, HasSubstr("; interrupted; database kiln.db\n"));
  EXPECT_THAT(
      output.err,
      EndsWith("kiln: session 1 was interrupted; run the same command again to continue\n"));
  EXPECT_EQ(state(), "interrupted");
  // Who stops a session because it is good enough leaves with the config.
  EXPECT_THAT(output.out, HasSubstr("  so far  "));
  EXPECT_THAT(output.out, HasSubstr("\n  plain:block_size="));
  const Json best = kiln_json("best " KILN_SOURCE_DIR
                              "/tests/cli/kernels/scale --problem n=100 --db kiln.db --json");
  EXPECT_EQ(best["grade"], "exact");
  EXPECT_EQ(best["tuned"]["unfinished"], true);
  EXPECT_THAT(output.out, HasSubstr("\n  " + best["config_text"].get<std::string>() + "\n"))
      << best;
}

TEST_F(Interrupted, BySigtermOfAFreshSessionItWarnsOfTheFlag) {
  RunningKiln running(folder_, tune_scale("--seconds 300 --fresh"));
  wait_for_trials(running, 1);
  running.signal(SIGTERM);
  const Output output = running.output();
  EXPECT_EQ(output.exit_code, 143);
  EXPECT_THAT(output.err, EndsWith("kiln: session 1 was interrupted; run the same command again, "
                                   "without --fresh, to continue\n"));
}

// `kiln tune ... 2>&1 | head -1`: the reader goes away while the session runs.
TEST_F(Interrupted, AReaderThatGoesAwayLeavesNothingBehind) {
  const std::string kiln_words = std::string("'") + KILN_PROGRAM + "' tune '" + KILN_SOURCE_DIR +
                                 "/tests/cli/kernels/scale' --problem n=100 --device opencl "
                                 "--trials 3 --fresh --db kiln.db";
  const std::filesystem::path temporary = folder_ / "tmp";
  std::filesystem::create_directory(temporary);
  const std::string command = "cd '" + folder_.string() + "' && TMPDIR='" + temporary.string() +
                              "' bash -c \"" + kiln_words +
                              " 2>&1 | head -1 >/dev/null; exit \\${PIPESTATUS[0]}\"";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 141);
  EXPECT_EQ(state(), "finished");
  EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "a worker's folder";
}

TEST_F(Interrupted, ByTheEndOfItsTerminalItKeepsItsTrials) {
  RunningKiln running(folder_, tune_scale("--seconds 300 --fresh"));
  wait_for_trials(running, 1);
  running.signal(SIGHUP);
  EXPECT_EQ(running.output().exit_code, 129);
  EXPECT_EQ(state(), "interrupted");
}

TEST_F(Interrupted, NobodyElseWritesWhileASessionRunsButAllMayRead) {
  RunningKiln running(folder_, tune_scale("--seconds 300"));
  wait_for_trials(running, 1);
  const Output second = kiln(tune_scale("--seed 7"));
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err, StartsWith("kiln: error: kiln.db: is being written by process "));
  EXPECT_THAT(second.err, EndsWith("; wait for it to end, or use another file with --db\n"));

  EXPECT_EQ(kiln("show --db kiln.db").exit_code, 0);
  EXPECT_EQ(kiln("db info kiln.db").exit_code, 0);
  EXPECT_EQ(kiln("best " KILN_SOURCE_DIR "/tests/cli/kernels/scale --problem n=100 --db kiln.db")
                .exit_code,
            0);
  ASSERT_FALSE(running.has_ended());
}

}  // namespace
}  // namespace kiln::cli
