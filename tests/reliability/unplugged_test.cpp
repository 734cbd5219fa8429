// Promise 9: a device that goes away in the middle of a session, and does not come back for new
// workers: one sentence, nothing lost, nobody blamed, and the same command goes on later.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <fstream>
#include <utility>
#include <vector>

#include "core/transient_error.hpp"
#include "endurance_fixture.hpp"
#include "tuner/session/patience.hpp"

namespace kiln {
namespace {

constexpr int kUnpluggedConfigs = 61;  ///< of the variant "quick", and the spec's default config

class UnpluggedTest : public EnduranceTest {
 protected:
  void SetUp() override { ::setenv(kScriptUnpluggedVariable, plug().c_str(), 1); }
  void TearDown() override { ::unsetenv(kScriptUnpluggedVariable); }

  [[nodiscard]] std::filesystem::path plug() const { return folder_ / "unplugged"; }
  /// `deed`: what a new worker's driver does, see kScriptUnpluggedVariable.
  void unplug(const std::string& deed) const { std::ofstream(plug()) << deed; }

  [[nodiscard]] TuneRequest request() const {
    TuneRequest asked = scripted_request(1);
    asked.options.variants = {"quick"};
    return asked;
  }

  /// The sentence that the session ends with, which must carry the exit code for "no device".
  std::string end_of_session(Store& store, SessionObserver& observer) const {
    try {
      (void)tune(request(), store, observer);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::no_device);
      return error.what();
    }
    return "no error";
  }

  void expect_no_innocent_blamed(const Store& store) const {
    for (const TrialRecord& record : store.trials(store.sessions().back().id)) {
      const std::string text = record.trial.config.text();
      if (text.find("innocent") == std::string::npos) continue;
      EXPECT_EQ(record.trial.outcome, Outcome::ok) << text << ": " << record.trial.message;
    }
  }

  /// With the device back the session ends as if nothing had been.
  void expect_the_rest(Store& store, std::int64_t stored) const {
    std::filesystem::remove(plug());
    SessionObserver silent;
    const SessionResult result = tune(request(), store, silent);
    EXPECT_EQ(store.sessions().size(), 1U);
    EXPECT_EQ(result.state, SessionState::finished);
    EXPECT_EQ(result.trials, kUnpluggedConfigs);
    EXPECT_EQ(result.new_trials, kUnpluggedConfigs - stored);
    ASSERT_TRUE(result.best.has_value());
    EXPECT_EQ(result.best->config.text(), "quick:deed=innocent,number=7");
    EXPECT_EQ(result.best->verdict, Verdict::better);
    expect_no_innocent_blamed(store);
  }
};

/// Pulls the plug once so many trials are stored.
class PlugPuller : public SessionObserver {
 public:
  PlugPuller(std::filesystem::path plug, std::string deed)
      : plug_(std::move(plug)), deed_(std::move(deed)) {}
  void on_trial(const TrialRecord& record, const SessionProgress&) override {
    acknowledged = record.sequence;
    if (record.sequence == 20) std::ofstream(plug_) << deed_;
  }
  std::int64_t acknowledged = 0;

 private:
  std::filesystem::path plug_;
  std::string deed_;
};

constexpr const char* kBack =
    "; what was measured is stored, and the same command goes on from there when the device is "
    "back";

TEST_F(UnpluggedTest, TheSessionEndsWithOneSentenceAndGoesOnLater) {
  Store store(database(), Store::Mode::write);
  PlugPuller observer(plug(), "report");
  EXPECT_EQ(end_of_session(store, observer),
            "cuda:0 is gone: no device cuda:0: there are 0" + std::string(kBack));
  EXPECT_GE(observer.acknowledged, 20);
  const SessionId session = store.sessions().back().id;
  EXPECT_EQ(store.trials(session).size(), static_cast<std::size_t>(observer.acknowledged));
  EXPECT_TRUE(store.check().empty());
  expect_no_innocent_blamed(store);
  expect_the_rest(store, observer.acknowledged);
}

TEST_F(UnpluggedTest, ADriverThatDiesWithTheDeviceIsNoBetter) {
  Store store(database(), Store::Mode::write);
  PlugPuller observer(plug(), "crash");
  EXPECT_EQ(end_of_session(store, observer),
            "cuda:0 is gone: the worker died: signal SIGSEGV" + std::string(kBack));
  expect_no_innocent_blamed(store);
  expect_the_rest(store, observer.acknowledged);
}

TEST_F(UnpluggedTest, InTheFinalsNothingIsPublishedUntilTheyWereRun) {
  class PullInFinals : public SessionObserver {
   public:
    explicit PullInFinals(std::filesystem::path plug) : plug_(std::move(plug)) {}
    void on_finals(const std::vector<Config>&) override { std::ofstream(plug_) << "report"; }

   private:
    std::filesystem::path plug_;
  } observer(plug());
  Store store(database(), Store::Mode::write);
  EXPECT_EQ(end_of_session(store, observer),
            "cuda:0 is gone: no device cuda:0: there are 0" + std::string(kBack));
  EXPECT_TRUE(store.bests().empty());
  expect_the_rest(store, kUnpluggedConfigs);
}

TEST_F(UnpluggedTest, BeforeTheSessionThereIsNoSession) {
  unplug("report");
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  EXPECT_EQ(end_of_session(store, silent), "no device cuda:0: there are 0");
  EXPECT_TRUE(store.sessions().empty());
}

/// Pulls the plug at the first trial of each attempt, or as it starts, and puts it back once the
/// absence is announced.
class LooseContact : public SessionObserver {
 public:
  enum class Pulls { at_start, at_trial };
  LooseContact(std::filesystem::path plug, Pulls when, int most)
      : plug_(std::move(plug)), when_(when), left_(most) {}
  void on_start(const SessionStart&) override {
    holds_ = true;
    pull(Pulls::at_start);
  }
  void on_trial(const TrialRecord&, const SessionProgress&) override { pull(Pulls::at_trial); }
  void on_warning(const std::string& message) override {
    warnings.push_back(message);
    std::filesystem::remove(plug_);
  }
  std::vector<std::string> warnings;

 private:
  void pull(Pulls now) {
    if (now != when_ || left_ == 0 || !std::exchange(holds_, false)) return;
    --left_;
    std::ofstream(plug_) << "report";
  }
  std::filesystem::path plug_;
  Pulls when_;
  int left_;
  bool holds_ = false;  ///< not yet pulled in this attempt
};

constexpr const char* kGone = "cuda:0 is gone: no device cuda:0: there are 0";
constexpr Patience kPatience = {.longest = std::chrono::seconds(60),
                                .first_pause = std::chrono::milliseconds(5),
                                .longest_pause = std::chrono::milliseconds(20)};

TEST_F(UnpluggedTest, APatientSessionGoesOnWhenTheDeviceIsBack) {
  Store store(database(), Store::Mode::write);
  LooseContact observer(plug(), LooseContact::Pulls::at_trial, 5);
  TuneRequest fresh = request();
  fresh.options.fresh = true;  // what has begun is not begun anew
  const SessionResult result = tune_patiently(fresh, store, observer, kPatience);
  EXPECT_EQ(store.sessions().size(), 1U);
  EXPECT_EQ(result.state, SessionState::finished);
  EXPECT_EQ(result.trials, kUnpluggedConfigs);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "quick:deed=innocent,number=7");
  expect_no_innocent_blamed(store);
  std::vector<std::string> expected;
  for (int absence = 0; absence < 5; ++absence) {
    expected.push_back(std::string(kGone) + "; waiting, 60 s at most");
    expected.emplace_back("the session goes on");
  }
  EXPECT_EQ(observer.warnings, expected);
}

TEST_F(UnpluggedTest, PatienceHasAnEnd) {
  Store store(database(), Store::Mode::write);
  PlugPuller observer(plug(), "report");
  Patience short_patience = kPatience;
  short_patience.longest = std::chrono::milliseconds(50);
  EXPECT_THROW((void)tune_patiently(request(), store, observer, short_patience), TransientError);
  expect_the_rest(store, observer.acknowledged);
}

TEST_F(UnpluggedTest, ASessionThatDrivesTheDeviceAwayIsGivenUp) {
  Store store(database(), Store::Mode::write);
  LooseContact observer(plug(), LooseContact::Pulls::at_start, 100);
  try {
    (void)tune_patiently(request(), store, observer, kPatience);
    FAIL() << "it never held a trial";
  } catch (const TransientError& gone) {
    FAIL() << "a sweep would end: " << gone.what();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failed);
    EXPECT_EQ(error.what(), "3 times no trial came to its end: " + std::string(kGone));
  }
}

// There may be room to begin a session and none to store a trial, as often as one looks.
TEST_F(UnpluggedTest, ADiskThatIsFullIsNotTheFaultOfTheSession) {
  class NearlyFullDisk : public SessionObserver {
   public:
    void on_start(const SessionStart&) override {
      if (++starts < 7) throw TransientError(ExitCode::bad_database, "kiln.db: the disk is full");
    }
    int starts = 0;
  } observer;
  Store store(database(), Store::Mode::write);
  const SessionResult result = tune_patiently(request(), store, observer, kPatience);
  EXPECT_EQ(observer.starts, 7);
  EXPECT_EQ(result.state, SessionState::finished);
  EXPECT_EQ(result.trials, kUnpluggedConfigs);
  NearlyFullDisk again;
  Patience short_patience = kPatience;
  short_patience.longest = std::chrono::milliseconds(1);
  TuneRequest fresh = request();
  fresh.options.fresh = true;
  EXPECT_THROW((void)tune_patiently(fresh, store, again, short_patience), TransientError)
      << "that a session began is no progress";
}

TEST_F(UnpluggedTest, WaitingEndsOnRequest) {
  Store store(database(), Store::Mode::write);
  unplug("report");
  std::atomic<bool> stop = false;
  class Stopper : public SessionObserver {
   public:
    explicit Stopper(std::atomic<bool>& stop) : stop_(stop) {}
    void on_warning(const std::string&) override { stop_ = true; }

   private:
    std::atomic<bool>& stop_;
  } observer(stop);
  TuneRequest asked = request();
  asked.options.stop = &stop;
  Patience long_pause = kPatience;
  long_pause.first_pause = std::chrono::seconds(60);
  EXPECT_THROW((void)tune_patiently(asked, store, observer, long_pause), TransientError);
}

}  // namespace
}  // namespace kiln
