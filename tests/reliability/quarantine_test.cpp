// Configs that take down more than their worker: the next run of the session knows them.
// SPDX-License-Identifier: Apache-2.0
#include "endurance_fixture.hpp"
#include "tuning_child.hpp"

namespace kiln {
namespace {

class QuarantineTest : public EnduranceTest {
 protected:
  void SetUp() override {
    EnduranceTest::SetUp();
    ::setenv(kScriptLogVariable, (folder_ / "script.log").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv(kScriptLogVariable);
    EnduranceTest::TearDown();
  }

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

}  // namespace
}  // namespace kiln
