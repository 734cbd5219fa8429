// A stop is obeyed promptly wherever the session is: while a problem is prepared, and in the
// finals.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include "endurance_fixture.hpp"

namespace kiln {
namespace {

class InterruptsTest : public EnduranceTest {
 protected:
  void TearDown() override {
    ::unsetenv(kScriptHangVariable);
    EnduranceTest::TearDown();
  }

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
