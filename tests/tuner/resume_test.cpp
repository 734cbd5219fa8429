// SIGKILL of the supervisor at any moment: the next run goes on, no trial is lost or repeated.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <random>
#include <set>
#include <thread>

#include "session_fixture.hpp"

namespace kiln {
namespace {

class ResumeTest : public SessionTest {
 protected:
  /// Tunes in a child process that is killed after `delay`.
  void tune_and_kill(std::chrono::milliseconds delay) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        Store store(database(), Store::Mode::write);
        SessionObserver silent;
        (void)tune(request({"good", "naive"}), store, silent);
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    std::this_thread::sleep_for(delay);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
  }

  /// Texts of the stored trials, in order.
  std::vector<std::string> stored() {
    std::vector<std::string> texts;
    Store store(database(), Store::Mode::write);
    for (const SessionRecord& session : store.sessions()) {
      for (const TrialRecord& record : store.trials(session.id))
        texts.push_back(record.trial.config.text());
    }
    return texts;
  }
};

TEST_F(ResumeTest, KilledAtRandomMomentsLosesAndRepeatsNothing) {
  std::mt19937 random(std::random_device{}());
  std::vector<std::string> before;
  for (int kill = 0; kill < 3; ++kill) {
    tune_and_kill(std::chrono::milliseconds(500 + random() % 4000));
    const std::vector<std::string> now = stored();
    ASSERT_GE(now.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin()))
        << "an acknowledged trial is gone";
    before = now;
  }
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(request({"good", "naive"}), store, silent);
  EXPECT_EQ(result.state, SessionState::finished);
  EXPECT_EQ(store.sessions().size(), 1U);
  std::set<std::string> different;
  const std::vector<TrialRecord> trials = store.trials(result.id);
  for (const TrialRecord& record : trials) different.insert(record.trial.config.text());
  EXPECT_EQ(trials.size(), 5U);
  EXPECT_EQ(different.size(), 5U);
  EXPECT_TRUE(store.check().empty());
}

TEST_F(ResumeTest, ASessionWhoseTrialsAreNumberedOtherwiseIsRefused) {
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  TuneRequest wanted = request({"good"});
  wanted.options.budget.trials = 1;
  const SessionId id = tune(wanted, store, silent).id;
  Trial odd = store.trials(id).front().trial;
  odd.config.variant = "another";
  store.append(id, std::numeric_limits<std::int64_t>::max(), odd);
  wanted.options.budget.trials = 2;
  try {
    (void)tune(wanted, store, silent);
    FAIL() << "the session went on";
  } catch (const DatabaseError& error) {
    EXPECT_EQ(std::string(error.what()),
              "session 1 cannot go on: expected its trials to be numbered 1 to 2, found number "
              "9223372036854775807; `kiln tune --fresh` begins another session");
  }
}

}  // namespace
}  // namespace kiln
