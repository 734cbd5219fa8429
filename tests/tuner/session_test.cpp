// Whole sessions with real processes on PoCL: every fault costs its own config and no other.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>

#include "db/evidence.hpp"
#include "lookup/source_check.hpp"
#include "session_fixture.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The first trial of a variant.
const Trial& trial_of(const std::vector<TrialRecord>& trials, const std::string& variant) {
  for (const TrialRecord& record : trials) {
    if (record.trial.config.variant == variant) return record.trial;
  }
  throw std::out_of_range(variant);
}

class FaultTest : public SessionTest {
 protected:
  /// Tunes `variants` (the default config comes first all the same) and returns the stored trials.
  std::vector<TrialRecord> trials_of(const std::vector<std::string>& variants) {
    TuneRequest tuned = request(variants);
    if (has_deadlines_) {
      tuned.options.compile_deadline = std::chrono::seconds(8);
      tuned.options.deadlines.run_cap = std::chrono::seconds(10);
    }
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    result_ = tune(tuned, store, silent);
    EXPECT_TRUE(store.check().empty());
    return store.trials(result_.id);
  }
  bool has_deadlines_ = false;
  SessionResult result_;
};

TEST_F(FaultTest, GoodConfigsAreOkAndTheDefaultComesFirst) {
  const std::vector<TrialRecord> trials = trials_of({"good", "naive"});
  ASSERT_EQ(trials.size(), 5U);
  EXPECT_EQ(trials[0].sequence, 1);
  EXPECT_EQ(trials[0].trial.config.text(), "good:block=64");
  for (const TrialRecord& record : trials) {
    EXPECT_EQ(record.trial.outcome, Outcome::ok)
        << record.trial.config.text() << ": " << record.trial.message;
    EXPECT_GE(record.trial.samples.ns.size(), 2U);
    EXPECT_GT(record.trial.time_ns, 0);
    EXPECT_GT(record.trial.cost.verify_ns, 0);
    EXPECT_TRUE(record.trial.samples.cold_cache);
  }
  EXPECT_EQ(result_.end, SessionEnd::exhausted);
  EXPECT_EQ(result_.state, SessionState::finished);
  ASSERT_TRUE(result_.best.has_value());
  EXPECT_GT(result_.best->default_time_ns, 0);
  EXPECT_TRUE(result_.best->naive_time_ns.has_value());
  EXPECT_EQ(result_.best->bytes, 8000);
  EXPECT_THAT(result_.best->evidence, HasSubstr("good:block=64"));
  EXPECT_EQ(SourceCheck(spec_).change_in(*result_.best), "") << "measured with the source of today";
  EXPECT_EQ(read_evidence(result_.best->evidence).source.size(), 16U);
}

TEST_F(FaultTest, AWrongElementIsNamed) {
  const Trial trial = trial_of(trials_of({"wrong"}), "wrong");
  EXPECT_EQ(trial.outcome, Outcome::wrong_result);
  EXPECT_THAT(
      trial.message,
      StartsWith("1 of 1000 elements of 'y' are wrong; the first is y[999]: nan, expected "));
  EXPECT_TRUE(!result_.best || result_.best->verdict == Verdict::none)
      << "another variant's best is no answer";
}

TEST_F(FaultTest, WritesPastTheEndAreSeen) {
  const Trial trial = trial_of(trials_of({"overrun"}), "overrun");
  EXPECT_EQ(trial.outcome, Outcome::wrong_result);
  EXPECT_EQ(trial.message, "wrote past the end of 'y': byte 0 behind it changed");
}

TEST_F(FaultTest, WritesToInputsAreSeenAndRepaired) {
  const std::vector<TrialRecord> trials = trials_of({"scribble", "good"});
  EXPECT_EQ(trial_of(trials, "scribble").outcome, Outcome::wrong_result);
  EXPECT_EQ(trial_of(trials, "scribble").message, "changed its read-only input 'x'");
  EXPECT_EQ(result_.failures, 1);
  EXPECT_EQ(result_.trials, 5);
}

TEST_F(FaultTest, AWorkspaceHoldsNoZeros) {
  const Trial trial = trial_of(trials_of({"stale"}), "stale");
  EXPECT_EQ(trial.outcome, Outcome::wrong_result);
  EXPECT_THAT(trial.message, HasSubstr("1000 of 1000 elements of 'y' are wrong"));
}

TEST_F(FaultTest, SharedMemoryHoldsNoZeros) {
  // Of several threads one may sleep while the others poison theirs, where the machine is busy.
  const char* threads = std::getenv("POCL_MAX_PTHREAD_COUNT");
  const std::string before = threads != nullptr ? threads : "";
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", /*replace=*/1);
  for (const char* variant : {"unwritten", "unwritten_dynamic"}) {
    const Trial trial = trial_of(trials_of({variant}), variant);
    EXPECT_EQ(trial.outcome, Outcome::wrong_result) << variant;
    EXPECT_THAT(trial.message, HasSubstr("1000 of 1000 elements of 'y' are wrong")) << variant;
  }
  before.empty() ? ::unsetenv("POCL_MAX_PTHREAD_COUNT")
                 : ::setenv("POCL_MAX_PTHREAD_COUNT", before.c_str(), /*replace=*/1);
}

TEST_F(FaultTest, AKernelThatDoesNotCompileSaysWhere) {
  const Trial trial = trial_of(trials_of({"broken"}), "broken");
  EXPECT_EQ(trial.outcome, Outcome::compile_error);
  EXPECT_THAT(trial.message, HasSubstr("undeclared"));
  EXPECT_THAT(trial.message, HasSubstr("broken.inja:4"));
}

TEST_F(FaultTest, TooMuchWorkspaceIsOutOfMemory) {
  const Trial trial = trial_of(trials_of({"greedy"}), "greedy");
  EXPECT_EQ(trial.outcome, Outcome::out_of_memory);
  EXPECT_THAT(trial.message, StartsWith("no room for 'hoard' (140737488355328 bytes)"));
}

TEST_F(FaultTest, ACrashCostsItsConfigAlone) {
  const std::vector<TrialRecord> trials = trials_of({"crash", "good"});
  EXPECT_EQ(trial_of(trials, "crash").outcome, Outcome::device_fault);
  EXPECT_THAT(trial_of(trials, "crash").message, StartsWith("the worker died: signal SIGSEGV"));
  EXPECT_EQ(result_.trials, 5);
  EXPECT_EQ(result_.failures, 1);
  EXPECT_EQ(result_.state, SessionState::finished);
}

TEST_F(FaultTest, AHangEndsAtItsDeadlineAndCostsItsConfigAlone) {
  has_deadlines_ = true;
  const std::vector<TrialRecord> trials = trials_of({"hang", "good"});
  EXPECT_EQ(trial_of(trials, "hang").outcome, Outcome::run_timeout);
  EXPECT_THAT(trial_of(trials, "hang").message, StartsWith("the first run did not finish within "));
  EXPECT_EQ(result_.trials, 5);
  EXPECT_EQ(result_.failures, 1);
}

/// Keeps the warnings of a session. Ends it when `hang` runs, if it has a flag for that.
struct HangWatch final : SessionObserver {
  void on_warning(const std::string& message) override { warnings.push_back(message); }
  void on_state(const std::string& activity, const SessionProgress&) override {
    if (stop != nullptr && activity.starts_with("running hang")) stop->store(true);
  }
  std::vector<std::string> warnings;
  std::atomic<bool>* stop = nullptr;
};

// The deadline of a first run is a minute, and OpenCL has another one for the code it generates.
// A session whose time is over does not wait that long.
TEST_F(FaultTest, AHangDoesNotOutliveTheTimeOfTheSession) {
  Store store(database(), Store::Mode::write);
  TuneRequest asked = request({"hang"});
  asked.options.deadlines.past_budget = std::chrono::milliseconds(300);
  HangWatch watch;
  // On a busy machine a short budget ends before `hang` begins: the session goes on with a longer.
  for (const double seconds : {2, 8, 32}) {
    asked.options.budget.seconds = seconds;
    result_ = tune(asked, store, watch);
    if (store.trials(result_.id).back().trial.config.variant == "hang") break;
  }
  const Trial trial = trial_of(store.trials(result_.id), "hang");
  EXPECT_EQ(trial.outcome, Outcome::run_timeout);
  EXPECT_THAT(trial.message, HasSubstr("and was killed: the time of the session was over"));
  EXPECT_THAT(watch.warnings,
              testing::Contains(
                  StartsWith("the time is over: waiting up to 0.3 s for the first run of hang")));
}

// OpenCL generates code at the first launch: on a busy machine a short budget is over by then. The
// first config has the time of a first run still.
TEST_F(FaultTest, ASessionWhoseTimeIsOverFinishesTheFirstValidConfig) {
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  TuneRequest asked = request({"good"});
  asked.options.budget.seconds = 0.001;
  asked.options.deadlines.past_budget = std::chrono::seconds(60);
  const SessionResult result = tune(asked, store, silent);
  EXPECT_EQ(result.end, SessionEnd::seconds);
  const Trial first = trial_of(store.trials(result.id), "good");
  EXPECT_EQ(first.outcome, Outcome::ok) << first.message;
  EXPECT_TRUE(result.only_default);
  EXPECT_FALSE(result.best.has_value());
}

TEST_F(FaultTest, AHangDoesNotOutliveAnInterrupt) {
  Store store(database(), Store::Mode::write);
  std::atomic<bool> stop = false;
  TuneRequest asked = request({"hang"});
  asked.options.deadlines.past_budget = std::chrono::milliseconds(300);
  asked.options.stop = &stop;
  HangWatch watch;
  watch.stop = &stop;
  const SessionResult result = tune(asked, store, watch);
  EXPECT_EQ(trial_of(store.trials(result.id), "hang").outcome, Outcome::run_timeout);
  EXPECT_EQ(result.end, SessionEnd::interrupted);
  EXPECT_THAT(
      watch.warnings,
      testing::Contains(StartsWith("interrupted: waiting up to 0.3 s for the first run of hang")));
}

// --- What a session is asked for ---

TEST_F(SessionTest, TheSameRequestAgainIsAnsweredFromTheStore) {
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  TuneRequest asked = request({"good"});
  asked.options.budget.trials = 2;
  const SessionResult first = tune(asked, store, silent);
  EXPECT_EQ(first.end, SessionEnd::trials);
  EXPECT_EQ(first.new_trials, 2);
  const SessionResult again = tune(asked, store, silent);
  EXPECT_EQ(again.end, SessionEnd::stored);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.new_trials, 0);
  ASSERT_TRUE(again.best.has_value());
  EXPECT_EQ(again.best->config, first.best->config);

  asked.options.budget.trials = 3;  // more than was used: the session goes on
  const SessionResult more = tune(asked, store, silent);
  EXPECT_EQ(more.id, first.id);
  EXPECT_EQ(more.new_trials, 1);
  EXPECT_EQ(more.trials, 3);

  asked.options.fresh = true;
  const SessionResult fresh = tune(asked, store, silent);
  EXPECT_NE(fresh.id, first.id);
  EXPECT_EQ(fresh.new_trials, 3);
  EXPECT_TRUE(store.check().empty());
}

// Preparing the problem takes longer than that.
TEST_F(SessionTest, TheDefaultConfigIsTriedHoweverLittleTimeThereIs) {
  TuneRequest asked = request({"good"});
  asked.options.budget.seconds = 0.001;
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  EXPECT_EQ(result.end, SessionEnd::seconds);
  EXPECT_EQ(result.state, SessionState::finished);
  const std::vector<TrialRecord> trials = store.trials(result.id);
  ASSERT_GE(trials.size(), 1U);
  EXPECT_LE(trials.size(), 2U) << "the next one may be under way by then";
  EXPECT_EQ(trials.front().trial.config.text(), "good:block=64");
  EXPECT_TRUE(trials.front().trial.ok());
  EXPECT_EQ(result.only_default, trials.size() == 1);
  EXPECT_EQ(result.best.has_value(), trials.size() > 1) << "nothing was compared with it";
  const SessionResult again = tune(asked, store, silent);
  EXPECT_EQ(again.end, SessionEnd::stored);
  EXPECT_EQ(again.only_default, result.only_default);
  EXPECT_TRUE(again.best || again.so_far);
}

TEST_F(SessionTest, ConfigsThatDifferInTheirLaunchAloneShareOneCompile) {
  const KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/launches");
  TuneRequest asked{spec, Problem::parse(spec, "n=1000"), "opencl", 0, request({}).options};
  asked.options.compile_workers = 2;
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  std::map<std::string, int> compiles;  // by the source
  for (const TrialRecord& record : store.trials(result.id)) {
    const Trial& trial = record.trial;
    EXPECT_TRUE(trial.ok()) << trial.config.text() << ": " << trial.message;
    compiles[trial.source_key] += trial.cost.compile_ns > 0 ? 1 : 0;
  }
  EXPECT_EQ(result.trials, 6) << "2 sources, 3 launches each";
  EXPECT_EQ(compiles.size(), 2U);
  for (const auto& [source, count] : compiles) EXPECT_EQ(count, 1) << source;
}

class Warnings : public SessionObserver {
 public:
  void on_warning(const std::string& text) override { texts.push_back(text); }
  std::vector<std::string> texts;
};

TEST_F(SessionTest, ADefaultConfigThatFailsIsToldOfAtOnce) {
  const std::filesystem::path kernel = folder_ / "faulty";
  std::filesystem::copy(KILN_SOURCE_DIR "/tests/tuner/kernels/faulty", kernel);
  std::filesystem::copy_file(kernel / "wrong.inja", kernel / "good.inja",
                             std::filesystem::copy_options::overwrite_existing);
  const KernelSpec spec = KernelLibrary().load(kernel.string());
  TuneRequest asked = request({"naive"});
  asked.options.budget.trials = 2;
  const TuneRequest of_copy{spec, Problem::parse(spec, "n=1000"), "opencl", 0, asked.options};
  Warnings observer;
  Store store(database(), Store::Mode::write);
  const SessionResult result = tune(of_copy, store, observer);
  EXPECT_EQ(result.failures, 1);
  ASSERT_EQ(observer.texts.size(), 1U);
  EXPECT_THAT(observer.texts[0],
              StartsWith("the default config good:block=64 failed (wrong_result): 1 of 1000 "
                         "elements of 'y' are wrong"));
}

TEST_F(SessionTest, FinalistsWithWorkspacesOfOtherLengthsAreAllRight) {
  const KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/counters");
  const TuneRequest asked{spec, Problem::parse(spec, "n=2000"), "opencl", 0, request({}).options};
  Warnings observer;
  Store store(database(), Store::Mode::write);
  const SessionResult result = tune(asked, store, observer);
  EXPECT_EQ(result.failures, 0);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_THAT(observer.texts, testing::Not(testing::Contains(testing::HasSubstr("wrong result"))));
}

TEST_F(SessionTest, AStopEndsItAfterTheTrialInHandAndTheNextRunGoesOn) {
  std::atomic<bool> stop = false;
  class StopAfterTwo : public SessionObserver {
   public:
    explicit StopAfterTwo(std::atomic<bool>& flag) : flag_(flag) {}
    void on_trial(const TrialRecord& record, const SessionProgress&) override {
      flag_ = record.sequence >= 2;
    }

   private:
    std::atomic<bool>& flag_;
  } observer(stop);
  Store store(database(), Store::Mode::write);
  TuneRequest asked = request({"good"});
  asked.options.stop = &stop;
  const SessionResult stopped = tune(asked, store, observer);
  EXPECT_EQ(stopped.end, SessionEnd::interrupted);
  EXPECT_EQ(stopped.state, SessionState::interrupted);
  EXPECT_GE(stopped.trials, 2);
  EXPECT_FALSE(stopped.best.has_value());

  asked.options.stop = nullptr;
  SessionObserver silent;
  const SessionResult resumed = tune(asked, store, silent);
  EXPECT_EQ(resumed.id, stopped.id);
  EXPECT_EQ(resumed.trials, 4);
  EXPECT_EQ(resumed.new_trials, 4 - stopped.trials);
  EXPECT_EQ(resumed.state, SessionState::finished);
}

TEST_F(SessionTest, ADeviceThatIsNotThereEndsTheRunWithTheReason) {
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  TuneRequest asked = request({"good"});
  asked.ordinal = 99;
  EXPECT_THROW((void)tune(asked, store, silent), Error);
  EXPECT_TRUE(store.sessions().empty());
}

TEST_F(SessionTest, AWorkerProgramThatIsNoWorkerIsReported) {
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  TuneRequest asked = request({"good"});
  asked.options.worker_program = "/does/not/exist";
  try {
    (void)tune(asked, store, silent);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_device);
    EXPECT_STREQ(error.what(),
                 "opencl:0 does not come up: the worker died: exit code 127; it printed: cannot "
                 "execute the worker program");
  }
}

}  // namespace
}  // namespace kiln
