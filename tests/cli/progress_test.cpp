// Progress where stderr is no terminal: few lines, each of use to a reader of a log.
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

SessionStart start(std::int64_t stored_trials) {
  SessionStart start;
  start.id = 3;
  start.device.name = "A100";
  start.space_size = 29;
  start.stored_trials = stored_trials;
  start.strategy = "local";
  return start;
}

SessionProgress progress(std::int64_t trials, double best_ns) {
  SessionProgress progress;
  progress.trials = trials;
  progress.failures = 1;
  progress.trials_per_second = 2.04;
  progress.best_ns = best_ns;
  progress.best_config = "tile:rows=32";
  progress.default_ns = 20'000;
  progress.seconds_left = 65;
  return progress;
}

class ProgressLines : public testing::Test {
 protected:
  static std::string told(ProgressLine::Mode mode, void (*story)(ProgressLine&)) {
    Budget budget;
    budget.seconds = 60;
    testing::internal::CaptureStderr();
    {
      ProgressLine line("scale n=100", budget, mode);
      story(line);
    }
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(ProgressLines, TellTheStartTheFirstBestAndWarnings) {
  const std::string text = told(ProgressLine::Mode::lines, [](ProgressLine& line) {
    line.on_start(start(0));
    line.on_state("compiling tile:rows=32", progress(0, 0));
    line.on_trial({}, progress(1, 10'000));
    line.on_warning("the device throttled");
  });
  EXPECT_EQ(text,
            "scale n=100: 29 configs on A100, strategy local, session 3\n"
            "scale n=100: 1 trial (1 failed), 2.0/s, best 10.0 us (2.00x default), 1:05 left; new "
            "best tile:rows=32\n"
            "scale n=100: warning: the device throttled\n");
}

TEST_F(ProgressLines, SayThatASessionGoesOn) {
  EXPECT_EQ(
      told(ProgressLine::Mode::lines, [](ProgressLine& line) { line.on_start(start(7)); }),
      "scale n=100: 29 configs on A100, strategy local, session 3 (continues after 7 trials)\n");
}

TEST_F(ProgressLines, SayWhatASessionStartsFrom) {
  const std::string text = told(ProgressLine::Mode::lines, [](ProgressLine& line) {
    SessionStart warm = start(0);
    warm.warm = {
        {{"tile", {{"rows", Value(std::int64_t{64})}}}, "the best of n=1000 on this device"}};
    line.on_start(warm);
  });
  EXPECT_EQ(text,
            "scale n=100: 29 configs on A100, strategy local, session 3\n"
            "scale n=100: starts from tile:rows=64, the best of n=1000 on this device\n");
}

TEST_F(ProgressLines, DoNotRepeatABestNorFollowEachOtherWithinASecond) {
  const std::string text = told(ProgressLine::Mode::lines, [](ProgressLine& line) {
    line.on_trial({}, progress(1, 10'000));
    line.on_trial({}, progress(2, 10'000));
    line.on_trial({}, progress(3, 9'000));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(ProgressLines, SayWhatIsPreparedInsteadOfNoTrials) {
  SessionProgress none;
  none.seconds_left = 9;
  EXPECT_EQ(progress_text("scale n=100", "preparing inputs and reference", none, 0, 80),
            "scale n=100: 0:09 left; preparing inputs and reference");
}

TEST_F(ProgressLines, PutTheAnswerFirstAndCutTheConfig) {
  const std::string title = "[2/5] matmul m=4096 n=4096 k=4096";
  const std::string activity = "ok register:tile_m=128,tile_n=256,tile_k=8,micro_m=16,micro_n=8";
  EXPECT_EQ(progress_text(title, activity, progress(12, 10'000), 0.5, 80),
            "[2/5] matmul m=4096 n=4...: best 10.0 us, 2.00x the default, 1:05 left; 12 tr...");
  EXPECT_EQ(progress_text(title, activity, progress(12, 10'000), 0.5, 140),
            title +
                ": best 10.0 us, 2.00x the default, 1:05 left [##########..........]; 12 trials, "
                "2.0/s, 1 failed; ok regi...");
}

TEST_F(ProgressLines, AreOnlyWarningsWhenQuiet) {
  const std::string text = told(ProgressLine::Mode::quiet, [](ProgressLine& line) {
    line.on_start(start(0));
    line.on_trial({}, progress(1, 10'000));
    line.on_finals({});
    line.on_warning("the device throttled");
  });
  EXPECT_EQ(text, "scale n=100: warning: the device throttled\n");
}

TEST_F(ProgressLines, AreOneLineDrawnAgainOnATerminal) {
  const std::string text = told(ProgressLine::Mode::terminal, [](ProgressLine& line) {
    SessionProgress half = progress(1, 10'000);
    half.elapsed_seconds = 30;
    line.on_state("running tile", half);
  });
  EXPECT_THAT(text, Not(HasSubstr(std::string(1, '\n'))));
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kscale n=100: best 10.0 us, 2.00x the default, 1:05 "
                              "left; 1 trial, 2.0/s, 1 failed; running tile"));
  EXPECT_THAT(text, EndsWith("\r\x1b[K")) << "nothing stays on the line for what is printed next";
}

}  // namespace
}  // namespace kiln::cli
