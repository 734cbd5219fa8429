// SIGKILL of the supervisor or of a worker at random moments: nothing acknowledged is lost, nothing
// is damaged, at most one config runs twice for each kill.
//
// The sessions play the script; with KILN_KILLS_DEVICE=cuda:0 they tune a real kernel on that
// device.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <random>

#include "endurance_fixture.hpp"
#include "tests/reliability/size.hpp"
#include "tuning_child.hpp"

namespace kiln {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kConfigs = 61;         ///< of the variant "quick", and the spec's default config
constexpr int kDeviceConfigs = 200;  ///< of a session on a device

class KillsTest : public EnduranceTest {
 protected:
  void SetUp() override { ::setenv(kScriptLogVariable, log().c_str(), 1); }
  void TearDown() override {
    ::unsetenv(kScriptLogVariable);
    ::unsetenv(kRealWorkersVariable);
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

  /// A session of a real kernel on `device_`. Nothing but a kill makes it run a config twice.
  [[nodiscard]] TuneRequest device_request(std::uint64_t seed) const {
    const std::size_t colon = device_.find(':');
    TuneRequest asked{reduce_,
                      Problem::parse(reduce_, "n=1000000"),
                      device_.substr(0, colon),
                      std::stoi(device_.substr(colon + 1)),
                      {}};
    asked.options.strategy = "random";
    asked.options.seed = seed;
    asked.options.warm_configs = 0;
    asked.options.budget.trials = kDeviceConfigs;
    asked.options.drift.first_seconds = 1e6;
    return asked;
  }
  [[nodiscard]] TuneRequest request(std::uint64_t seed) const {
    return device_.empty() ? quick_request(seed) : device_request(seed);
  }

  /// Waits for a moment to kill at; true: the session ended before. A device takes a second to
  /// open, so most kills on one wait for the next trial first.
  bool wait_for_moment(TuningChild& child);
  /// Runs the session of `seed` to its end, with kills at random moments; returns how many.
  int run_with_kills(std::uint64_t seed, int wanted);
  void expect_acknowledged_trials_stored();
  void judge_session(int kills);

  std::mt19937 random_{std::random_device{}()};
  std::string device_;  ///< "cuda:0"; empty: the script
  KernelSpec reduce_ = KernelLibrary().load("reduce");
  int blamed_innocents_ = 0;
  int repeated_ = 0;
};

bool KillsTest::wait_for_moment(TuningChild& child) {
  std::uniform_int_distribution<int> pause_us(0, 250'000);
  if (!device_.empty() && random_() % 4 != 0) {
    const auto size = [this] {
      std::error_code none;
      const auto bytes = std::filesystem::file_size(acknowledged(), none);
      return none ? 0 : bytes;
    };
    const auto before = size();
    while (size() == before) {
      if (child.wait_until(Steady::now() + std::chrono::milliseconds(1))) return true;
    }
  }
  return child.wait_until(Steady::now() + std::chrono::microseconds(pause_us(random_)));
}

int KillsTest::run_with_kills(std::uint64_t seed, int wanted) {
  int kills = 0;
  while (true) {
    TuningChild child(request(seed), database(), acknowledged());
    while (!child.has_ended()) {
      if (kills == wanted) {
        EXPECT_TRUE(child.wait());
        return kills;
      }
      if (wait_for_moment(child)) break;
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
  const bool on_device = !device_.empty();
  EXPECT_EQ(trials.size(), static_cast<std::size_t>(on_device ? kDeviceConfigs : kConfigs));
  for (const TrialRecord& record : trials) {
    const Trial& trial = record.trial;
    const std::string text = trial.config.text();
    const Outcome wanted = on_device || text.find("innocent") != std::string::npos ? Outcome::ok
                           : text.find("wrong_result") != std::string::npos ? Outcome::wrong_result
                                                                            : Outcome::device_fault;
    if (trial.outcome == wanted) continue;
    // Only who is hit twice is blamed for what came from outside.
    ++blamed_innocents_;
    EXPECT_TRUE(trial.message.starts_with("the worker died: signal SIGKILL") ||
                trial.message.starts_with("quarantined after "))
        << text << ": " << name_of(trial.outcome) << ": " << trial.message;
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
  int wanted = test::is_soak() ? 1000 : 200;
  if (const char* device = std::getenv("KILN_KILLS_DEVICE")) {
    device_ = device;
    wanted = 50;
    ::setenv(kRealWorkersVariable, "1", /*replace=*/1);
  }
  if (const char* kills = std::getenv("KILN_KILLS")) wanted = std::stoi(kills);
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
