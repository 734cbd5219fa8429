// SIGKILL of the supervisor or of a worker at random moments: nothing acknowledged is lost, nothing
// is damaged, at most one config runs twice for each kill.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <random>

#include "endurance_fixture.hpp"
#include "tuning_child.hpp"

namespace kiln {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kConfigs = 61;  ///< of the variant "quick", and the spec's default config

class KillsTest : public EnduranceTest {
 protected:
  void SetUp() override {
    EnduranceTest::SetUp();
    ::setenv(kScriptLogVariable, log().c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv(kScriptLogVariable);
    EnduranceTest::TearDown();
  }

  [[nodiscard]] std::filesystem::path log() const { return folder_ / "script.log"; }
  [[nodiscard]] std::filesystem::path acknowledged() const { return folder_ / "acknowledged"; }

  [[nodiscard]] TuneRequest quick_request(std::uint64_t seed) const {
    TuneRequest asked = scripted_request(seed);
    asked.options.variants = {"quick"};
    asked.options.compile_deadline = std::chrono::seconds(60);
    asked.options.deadlines.run_floor = std::chrono::seconds(60);
    asked.options.deadlines.run_cap = std::chrono::seconds(60);
    return asked;
  }

  /// Runs the session of `seed` to its end, with kills at random moments; returns how many.
  int run_with_kills(std::uint64_t seed, int wanted);
  void expect_acknowledged_trials_stored();
  void judge_session(int kills);

  std::mt19937 random_{std::random_device{}()};
  int blamed_innocents_ = 0;
  int repeated_ = 0;
};

int KillsTest::run_with_kills(std::uint64_t seed, int wanted) {
  std::uniform_int_distribution<int> pause_us(0, 250'000);
  int kills = 0;
  while (true) {
    TuningChild child(quick_request(seed), database(), acknowledged());
    while (!child.has_ended()) {
      if (kills == wanted) {
        EXPECT_TRUE(child.wait());
        return kills;
      }
      const auto moment = Steady::now() + std::chrono::microseconds(pause_us(random_));
      if (child.wait_until(moment)) break;
      ++kills;
      const std::vector<pid_t> workers = child.workers();
      if (workers.empty() || random_() % 2 == 0) {
        child.kill();
        (void)child.wait();
        expect_acknowledged_trials_stored();
        break;
      }
      ::kill(workers[random_() % workers.size()], SIGKILL);
    }
    if (child.wait()) return kills;  // the session finished before another kill
  }
}

void KillsTest::expect_acknowledged_trials_stored() {
  Store store(database(), Store::Mode::write);
  EXPECT_TRUE(store.check().empty());
  const std::vector<SessionRecord> sessions = store.sessions();
  if (sessions.empty()) return;
  const std::vector<TrialRecord> trials = store.trials(sessions.back().id);
  std::ifstream lines(acknowledged());
  std::string config;
  for (std::size_t sequence = 0; lines >> sequence >> config;) {
    ASSERT_LE(sequence, trials.size()) << config << " was acknowledged and is gone";
    ASSERT_EQ(trials[sequence - 1].trial.config.text(), config);
  }
}

/// After the end of a session that saw `kills`.
void KillsTest::judge_session(int kills) {
  expect_acknowledged_trials_stored();
  Store store(database(), Store::Mode::write);
  const SessionRecord session = store.sessions().back();
  EXPECT_EQ(session.state, SessionState::finished);
  EXPECT_EQ(store.attempts(session.id).size(), 0U);
  const std::vector<TrialRecord> trials = store.trials(session.id);
  EXPECT_EQ(trials.size(), static_cast<std::size_t>(kConfigs));
  for (const TrialRecord& record : trials) {
    const Trial& trial = record.trial;
    const std::string text = trial.config.text();
    const Outcome wanted = text.find("innocent") != std::string::npos       ? Outcome::ok
                           : text.find("wrong_result") != std::string::npos ? Outcome::wrong_result
                                                                            : Outcome::device_fault;
    if (trial.outcome == wanted) continue;
    // Only who is hit twice is blamed for what came from outside.
    ++blamed_innocents_;
    EXPECT_TRUE(trial.message.starts_with("the worker died: signal SIGKILL") ||
                trial.message.starts_with("quarantined after "))
        << text << ": " << trial.message;
  }
  std::map<std::string, int> runs;
  std::ifstream lines(log());
  for (std::string deed, number, ns; lines >> deed >> number >> ns;) {
    if (deed != "ready" && deed != "fault") ++runs[deed + " " + number];
  }
  int repeated = 0;
  // A sticky fault whose worker dies by itself runs twice without any kill; two configs are
  // innocent number 0.
  for (const auto& [script, count] : runs) {
    const bool dies =
        script.starts_with("illegal_address") && std::stoi(script.substr(16)) % 4 == 3;
    repeated += count - (dies || script == "innocent 0" ? 2 : 1);
  }
  EXPECT_LE(repeated, kills);
  repeated_ += repeated;
  std::filesystem::remove(log());
  std::filesystem::remove(acknowledged());
}

TEST_F(KillsTest, AtRandomMomentsLoseNothingAcknowledgedAndRepeatOneConfigAtMost) {
  const int wanted = soak_size(200, 1000);
  int kills = 0;
  std::uint64_t sessions = 0;
  while (kills < wanted && !HasFatalFailure()) {
    const int made = run_with_kills(++sessions, std::min(wanted - kills, 12));
    kills += made;
    judge_session(made);
  }
  std::printf("%d kills over %d sessions; %d configs ran twice, %d were blamed for kills\n", kills,
              static_cast<int>(sessions), repeated_, blamed_innocents_);
}

TEST_F(KillsTest, TheSecondsOfKilledRunsCount) {
  double seconds = 0;
  for (int run = 0; run < 3; ++run) {
    TuningChild child(quick_request(1), database(), acknowledged());
    const auto start = Steady::now();
    std::ifstream lines;
    // The first acknowledged trial of this run says that the session is under way.
    const auto size_before = run == 0 ? 0 : std::filesystem::file_size(acknowledged());
    while (!std::filesystem::exists(acknowledged()) ||
           std::filesystem::file_size(acknowledged()) <= size_before) {
      ASSERT_LT(Steady::now() - start, std::chrono::seconds(60));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child.kill();
    EXPECT_FALSE(child.wait());
    Store store(database(), Store::Mode::write);
    const double now = store.sessions().at(0).wall_seconds;
    EXPECT_GT(now, seconds);
    seconds = now;
  }
  TuneRequest asked = quick_request(1);
  asked.options.budget.seconds = seconds / 2;  // what killed runs used is more than that
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  EXPECT_EQ(result.end, SessionEnd::seconds);
  EXPECT_LE(result.new_trials, 1);
}

}  // namespace
}  // namespace kiln
