// What a session hands out has passed every check, also where a config never led the search; and
// the compilers get their sources in time.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

#include "db/close_configs.hpp"
#include "db/evidence.hpp"
#include "endurance_fixture.hpp"
#include "search/space.hpp"
#include "tuner/session/pipeline.hpp"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Warnings : public SessionObserver {
 public:
  void on_warning(const std::string& text) override { texts.push_back(text); }
  std::vector<std::string> texts;
};

class ProofsTest : public EnduranceTest {
 protected:
  /// A session over 30 innocent configs.
  [[nodiscard]] TuneRequest innocent_request() const {
    TuneRequest made = scripted_request(1);
    made.options.strategy = "exhaustive";
    made.options.budget.trials = 30;
    return made;
  }
};

TEST_F(ProofsTest, WhatIsWrongOnAnotherProblemIsNeitherPublishedNorHandedOut) {
  ::setenv(kScriptWrongElsewhereVariable, "7", 1);  // the fastest
  Store store(database(), Store::Mode::write);
  Warnings observer;
  const SessionResult result = tune(innocent_request(), store, observer);
  ::unsetenv(kScriptWrongElsewhereVariable);
  EXPECT_THAT(observer.texts,
              ElementsAre("script:deed=innocent,number=7 fails a check at the end and is out: "
                          "on n=3: 1 of 3 elements of 'y' are wrong"));
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "script:deed=innocent,number=6");
  const std::vector<CloseConfig> close = close_configs(*result.best);
  EXPECT_GT(close.size(), 3U);
  for (const CloseConfig& each : close) EXPECT_THAT(each.config, Not(HasSubstr("number=7")));
}

TEST_F(ProofsTest, AProofMayTakeLongerThanARun) {
  ::setenv(kScriptSlowProofsVariable, "1", 1);
  TuneRequest asked = innocent_request();
  asked.options.budget.trials = 3;
  asked.options.compile_deadline = std::chrono::milliseconds(500);  // as much is added to a run's
  Store store(database(), Store::Mode::write);
  Warnings observer;
  const SessionResult result = tune(asked, store, observer);
  ::unsetenv(kScriptSlowProofsVariable);
  EXPECT_THAT(observer.texts, ElementsAre());
  EXPECT_TRUE(result.best.has_value());
}

TEST_F(ProofsTest, WhereAllAreWrongOnAnotherProblemAFewAreNamed) {
  ::setenv(kScriptWrongElsewhereVariable, "all", 1);
  Store store(database(), Store::Mode::write);
  Warnings observer;
  const SessionResult result = tune(innocent_request(), store, observer);
  ::unsetenv(kScriptWrongElsewhereVariable);
  EXPECT_FALSE(result.best.has_value());
  ASSERT_EQ(observer.texts.size(), 9U);
  EXPECT_THAT(observer.texts.front(), HasSubstr("fails a check at the end and is out: on n=3: "));
  EXPECT_EQ(observer.texts.back(),
            "30 configs in all fail a check at the end and are out; 8 of them are named");
}

TEST_F(ProofsTest, TheTimeOfTheSearchIsStoredWithTheBest) {
  Store store(database(), Store::Mode::write);
  Warnings observer;
  const SessionResult result = tune(innocent_request(), store, observer);
  ASSERT_TRUE(result.best.has_value());
  const std::optional<TimeUse> use = read_evidence(result.best->evidence).time_use;
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->compile_workers, 4);
  EXPECT_GT(use->store, 0) << "one commit a trial";
  EXPECT_NEAR(use->prepare + use->device + use->device_no_binary + use->device_supervisor,
              use->search, 0.5 * use->search)
      << "the device works or waits";
  EXPECT_LE(use->ask + use->render + use->store + use->tell, use->search);
}

/// How fast the tuner is where a compiler takes 300 ms and the device 5 ms: 15 compile workers can
/// make 50 configs a second. Prints where the time went, for people: KILN_RATE=1, or with other
/// milliseconds KILN_RATE="60 2".
TEST_F(ProofsTest, TheTunerItselfIsFast) {
  const char* rate = std::getenv("KILN_RATE");
  if (rate == nullptr) GTEST_SKIP() << "KILN_RATE is not set";
  const std::string pace = std::string(rate).find(' ') != std::string::npos ? rate : "300 5";
  TuneRequest asked = scripted_request(1);
  asked.options.strategy = "auto";
  asked.options.variants = {"paced"};
  asked.options.compile_workers = 15;
  asked.options.budget.trials = 500;
  ::setenv(kScriptPaceVariable, pace.c_str(), 1);
  Store store(database(), Store::Mode::write);
  Warnings observer;
  const SessionResult result = tune(asked, store, observer);
  ::unsetenv(kScriptPaceVariable);
  EXPECT_EQ(result.trials, 500);
  ASSERT_TRUE(result.best.has_value());
  const std::optional<TimeUse> use = read_evidence(result.best->evidence).time_use;
  ASSERT_TRUE(use.has_value());
  EXPECT_GE(use->compile, 499e-3 * std::stod(pace)) << "no source was compiled for two configs";
  std::cout << 500 / use->search << " configs a second\n";
  for (const std::string& line : lines_of(*use)) std::cout << line << '\n';
}

/// Stands still after the first trial, as a stopped terminal would have it.
class Standstill : public SessionObserver {
 public:
  explicit Standstill(Clock::duration length) : length_(length) {}
  void on_trial(const TrialRecord&, const SessionProgress&) override {
    std::this_thread::sleep_for(std::exchange(length_, {}));
  }

 private:
  Clock::duration length_;
};

TEST_F(ProofsTest, ACompilerThatFinishedWhileNobodyLookedIsNotLate) {
  TuneRequest asked = scripted_request(1);
  asked.options.variants = {"paced"};
  asked.options.compile_workers = 2;
  asked.options.compile_deadline = std::chrono::seconds(2);
  asked.options.budget.trials = 6;
  ::setenv(kScriptPaceVariable, "600 5", 1);
  Store store(database(), Store::Mode::write);
  Standstill standstill(std::chrono::seconds(3));
  const SessionResult result = tune(asked, store, standstill);
  ::unsetenv(kScriptPaceVariable);
  EXPECT_EQ(result.trials, 6);
  EXPECT_EQ(result.failures, 0);
}

TEST_F(ProofsTest, ConfigsOfOneSourceDoNotKeepCompilersIdle) {
  const KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/launches");
  const Problem problem = Problem::parse(spec, "n=1000");
  const DeviceInfo target = device_for_architecture(kScriptedBackend, "sm_90a");
  WorkerHost host;
  DeviceClient device(host, kScriptedBackend, 0, {});
  CompilePool compilers(host, {target, 1, std::chrono::seconds(5), 0});
  TrialPipeline pipeline({spec, problem, target}, compilers, device);
  const Space space = Space::build({spec, problem, target});
  ASSERT_EQ(space.size(), 6U) << "2 sources, 3 launches each";
  std::size_t submitted = 0;
  while (pipeline.wants_more() && submitted < space.size()) pipeline.submit(space.at(submitted++));
  EXPECT_EQ(submitted, 6U) << "three configs of one source leave room for the next source";
}

}  // namespace
}  // namespace kiln
