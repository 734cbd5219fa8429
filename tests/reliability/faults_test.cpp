// Faults of configs, their quarantine, and energy.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include "endurance_fixture.hpp"
#include "tuning_child.hpp"

namespace kiln {
namespace {

using FaultsTest = EnduranceTest;

// Two hundred configs, eight kinds of fault: each costs its own config and no other.

const std::map<std::string, Outcome> kOutcomes = {
    {"innocent", Outcome::ok},
    {"hang", Outcome::run_timeout},
    {"illegal_address", Outcome::device_fault},
    {"misaligned_access", Outcome::device_fault},
    {"device_assert", Outcome::device_fault},
    {"out_of_memory", Outcome::out_of_memory},
    {"compiler_crash", Outcome::compile_crash},
    {"compiler_hang", Outcome::compile_timeout},
    {"wrong_result", Outcome::wrong_result},
};

std::string deed_of(const Config& config) { return std::get<std::string>(*config.find("deed")); }

/// Longest time from a sticky fault to a worker that is ready for the next config, in seconds.
double longest_recovery(const std::filesystem::path& log) {
  std::ifstream lines(log);
  double fault_ns = 0;
  double longest = 0;
  for (std::string deed, number; lines >> deed >> number;) {
    double ns = 0;
    lines >> ns;
    if (deed == "ready" && fault_ns > 0) longest = std::max(longest, (ns - fault_ns) * 1e-9);
    fault_ns = deed == "fault" ? ns : 0;
  }
  return longest;
}

TEST_F(FaultsTest, TwoHundredConfigsWithEightKindsOfFaultGiveTwoHundredRightOutcomes) {
  const std::filesystem::path log = folder_ / "script.log";
  ::setenv(kScriptLogVariable, log.c_str(), 1);
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(scripted_request(1), store, silent);
  ::unsetenv(kScriptLogVariable);

  EXPECT_EQ(result.state, SessionState::finished);
  EXPECT_EQ(result.end, SessionEnd::exhausted);
  EXPECT_EQ(result.space_size, 200);
  std::map<std::string, int> seen;
  double worst_hang = 0;
  for (const TrialRecord& record : store.trials(result.id)) {
    const Trial& trial = record.trial;
    const std::string deed = deed_of(trial.config);
    ++seen[deed];
    EXPECT_EQ(trial.outcome, kOutcomes.at(deed)) << trial.config.text() << ": " << trial.message;
    EXPECT_EQ(trial.message.empty(), trial.ok()) << trial.config.text();
    if (trial.outcome == Outcome::run_timeout) {
      worst_hang = std::max(
          worst_hang, static_cast<double>(trial.cost.verify_ns + trial.cost.measure_ns) * 1e-9);
    }
  }
  for (const auto& [deed, outcome] : kOutcomes) {
    EXPECT_EQ(seen[deed], deed == "innocent" ? 40 : 20) << deed;
  }
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "script:deed=innocent,number=7");
  EXPECT_TRUE(store.check().empty());
  std::printf("a hang took %.2f s at most; after a fault a worker was ready within %.3f s\n",
              worst_hang, longest_recovery(log));
}

TEST_F(FaultsTest, ACompilerThatTakesAllMemoryIsStoppedAndBlamed) {
  TuneRequest asked = scripted_request(1);
  asked.options.variants = {"memory"};
  asked.options.compile_memory_bytes = std::uint64_t{256} << 20;
  asked.options.compile_deadline = std::chrono::seconds(20);
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  const std::vector<TrialRecord> trials = store.trials(result.id);
  ASSERT_EQ(trials.size(), 2U);  // the default config of the spec comes along
  EXPECT_EQ(trials[0].trial.outcome, Outcome::ok) << trials[0].trial.message;
  EXPECT_EQ(trials[1].trial.outcome, Outcome::compile_crash);
  EXPECT_EQ(trials[1].trial.message,
            "the compiler wanted more than the 0.25 GiB of memory that it may have");
}

// Configs that take down more than their worker: the next run of the session knows them.

class QuarantineTest : public EnduranceTest {
 protected:
  void SetUp() override { ::setenv(kScriptLogVariable, (folder_ / "script.log").c_str(), 1); }
  void TearDown() override { ::unsetenv(kScriptLogVariable); }

  [[nodiscard]] TuneRequest request(const std::string& variant) const {
    TuneRequest asked = scripted_request(1);
    asked.options.variants = {variant};
    return asked;
  }

  /// Runs the session as long as it is killed by its own config; returns how often that happened.
  int deaths_until_the_end(const std::string& variant) {
    for (int deaths = 0; deaths < 10; ++deaths) {
      TuningChild child(request(variant), database(), folder_ / "acknowledged");
      if (child.wait()) return deaths;
    }
    return -1;
  }

  [[nodiscard]] Trial last_trial() {
    Store store(database(), Store::Mode::write);
    const SessionRecord session = store.sessions().back();
    EXPECT_EQ(session.state, SessionState::finished);
    EXPECT_TRUE(store.check().empty());
    EXPECT_TRUE(store.attempts(session.id).empty());
    return store.trials(session.id).back().trial;
  }
};

TEST_F(QuarantineTest, AWorkersDeathAndThenTheSessionsAreEnough) {
  EXPECT_EQ(deaths_until_the_end("repeater"), 1);
  const Trial trial = last_trial();
  EXPECT_EQ(trial.config.text(), "repeater:deed=kills_worker_then_everything,number=0");
  EXPECT_EQ(trial.outcome, Outcome::device_fault);
  EXPECT_EQ(
      trial.message,
      "quarantined after 2 attempts that came to no end, its worker seen to die in 1 of them; "
      "--fresh tries it again");
}

TEST_F(QuarantineTest, ThreeSessionsThatDidNotComeBackAreEnough) {
  EXPECT_EQ(deaths_until_the_end("killer"), 3);
  const Trial trial = last_trial();
  EXPECT_EQ(trial.outcome, Outcome::device_fault);
  EXPECT_EQ(
      trial.message,
      "quarantined after 3 attempts that came to no end, its worker seen to die in 0 of them; "
      "--fresh tries it again");
}

// A session for energy, from the worker's meter to the published best. The meter is scripted.

class EnergyTest : public EnduranceTest {};

TEST_F(EnergyTest, TheLeastEnergyWinsThoughAnotherIsFaster) {
  TuneRequest asked = scripted_request(1);
  asked.options.variants = {"metered"};
  asked.options.objective = "energy";
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "metered:deed=innocent,number=3");
  EXPECT_EQ(result.best->objective, "energy");
  EXPECT_DOUBLE_EQ(result.best->value, scripted_energy_j(3));
  EXPECT_EQ(result.best->verdict, Verdict::better);
  for (const TrialRecord& record : store.trials(result.id)) {
    const std::int64_t number = std::get<std::int64_t>(*record.trial.config.find("number"));
    EXPECT_DOUBLE_EQ(record.trial.metrics.at("energy"), scripted_energy_j(number));
    EXPECT_EQ(record.trial.time_ns, scripted_time_ns(number));
  }
  EXPECT_LT(scripted_time_ns(7), scripted_time_ns(3));
  EXPECT_THAT(store.check(), testing::IsEmpty());
}

TEST_F(EnergyTest, TheSameConfigsForTimeMeasureNoEnergy) {
  TuneRequest asked = scripted_request(1);
  asked.options.variants = {"metered"};
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "metered:deed=innocent,number=7");
  for (const TrialRecord& record : store.trials(result.id))
    EXPECT_TRUE(record.trial.metrics.empty());
}

// A stop is obeyed promptly wherever the session is: while a problem is prepared, and in the
// finals.

class InterruptsTest : public EnduranceTest {
 protected:
  void TearDown() override { ::unsetenv(kScriptHangVariable); }

  [[nodiscard]] TuneRequest request() const {
    TuneRequest asked = scripted_request(1);
    asked.options.variants = {"quick"};
    return asked;
  }

  /// A session that hangs `where`, is stopped there, and must end long before any deadline.
  SessionResult stop_where_it_hangs(const char* where, Store& store, SessionObserver& observer) {
    ::setenv(kScriptHangVariable, where, 1);
    TuneRequest asked = request();
    asked.options.stop = &stop_;
    const auto start = std::chrono::steady_clock::now();
    const SessionResult result = tune(asked, store, observer);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    ::unsetenv(kScriptHangVariable);
    EXPECT_EQ(result.end, SessionEnd::interrupted);
    EXPECT_EQ(result.state, SessionState::interrupted);
    EXPECT_FALSE(result.best.has_value());
    return result;
  }

  std::atomic<bool> stop_ = false;
};

TEST_F(InterruptsTest, WhileTheProblemIsPrepared) {
  class StopAtOnce : public SessionObserver {
   public:
    explicit StopAtOnce(std::atomic<bool>& stop) : stop_(stop) {}
    void on_state(const std::string& activity, const SessionProgress&) override {
      if (activity.starts_with("preparing")) stop_ = true;
    }

   private:
    std::atomic<bool>& stop_;
  } observer(stop_);
  Store store(database(), Store::Mode::write);
  EXPECT_EQ(stop_where_it_hangs("prepare", store, observer).trials, 0);
}

TEST_F(InterruptsTest, InTheFinalsWhichTheNextRunMakesUpFor) {
  class StopInFinals : public SessionObserver {
   public:
    explicit StopInFinals(std::atomic<bool>& stop) : stop_(stop) {}
    ~StopInFinals() override {
      if (later_.joinable()) later_.join();
    }
    void on_finals(const std::vector<Config>&) override {
      later_ = std::thread([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        stop_ = true;
      });
    }

   private:
    std::atomic<bool>& stop_;
    std::thread later_;
  } observer(stop_);
  Store store(database(), Store::Mode::write);
  const SessionResult stopped = stop_where_it_hangs("finals", store, observer);
  EXPECT_EQ(stopped.trials, 61);

  SessionObserver silent;
  const SessionResult resumed = tune(request(), store, silent);
  EXPECT_EQ(resumed.id, stopped.id);
  EXPECT_EQ(resumed.new_trials, 0);
  EXPECT_EQ(resumed.state, SessionState::finished);
  EXPECT_TRUE(resumed.best.has_value());
}

}  // namespace
}  // namespace kiln
