// Sessions with another objective than time, drift and comparisons, with real processes on PoCL.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/setting.hpp"
#include "session_fixture.hpp"
#include "tests/support/error_of.hpp"
#include "tuner/session/comparison.hpp"
#include "tuner/session/earlier_trials.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

class ObjectiveTest : public SessionTest {
 protected:
  SessionResult tune_for(const std::string& objective) {
    TuneRequest tuned = request({"good"});
    tuned.options.objective = objective;
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    return tune(tuned, store, silent);
  }
};

TEST_F(ObjectiveTest, TheLeastOfAMetricWinsWhateverItsTime) {
  const SessionResult result = tune_for("threads");
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "good:block=16");
  EXPECT_EQ(result.best->objective, "threads");
  EXPECT_EQ(result.best->value, 16);
  EXPECT_EQ(result.best->default_value, 64);
  EXPECT_EQ(result.best->verdict, Verdict::better);
  EXPECT_GT(result.best->time_ns, 0);

  const Store store(database(), Store::Mode::read);
  EXPECT_TRUE(store.bests("faulty").empty()) << "a lookup for time must not see it";
  ASSERT_EQ(store.bests("faulty", "threads").size(), 1U);
  for (const TrialRecord& record : store.trials(result.id)) {
    EXPECT_EQ(record.trial.metrics.at("threads"), as_double(*record.trial.config.find("block")));
    EXPECT_GT(record.trial.metrics.at("bandwidth"), 0);
    EXPECT_EQ(record.trial.samples.throttle, "unknown") << "OpenCL does not tell";
    EXPECT_FALSE(record.trial.samples.dropped_early) << "a race of times would be unfair";
  }
  EXPECT_THAT(store.check(), testing::IsEmpty());
}

TEST_F(ObjectiveTest, TheMostOfAMetricOfTimeIsTheFastestInASessionOfItsOwn) {
  const SessionResult time = tune_for("time");
  const SessionResult result = tune_for("bandwidth");
  EXPECT_NE(time.id, result.id);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_NEAR(result.best->value, 8000 / result.best->time_ns, 1e-3 * result.best->value)
      << "the value of the median round, and the rounds' median time";
  const Json evidence = Json::parse(result.best->evidence);
  EXPECT_EQ(evidence["objective"], "bandwidth");
  // A finalist alone, where all others are far behind the default config, runs in no rounds.
  if (evidence["finalists"].size() > 1) {
    EXPECT_GE(evidence["finalists"][0]["values"].size(), 8U);
  }
  EXPECT_EQ(tune_for("bandwidth").end, SessionEnd::stored);
  const Store store(database(), Store::Mode::read);
  const std::string tail =
      " computes=" + computation_hash(spec_) + " launches=" + launches_text(spec_);
  EXPECT_EQ(store.session(time.id)->key.options, "cache=cold variants=good" + tail);
  EXPECT_EQ(store.session(result.id)->key.options,
            "cache=cold variants=good objective=bandwidth" + tail);
}

TEST_F(ObjectiveTest, EnergyWithoutAMeterEndsTheRunAndStoresNothing) {
  EXPECT_EQ(test::error_of<DeviceError>([&] { return tune_for("energy"); }),
            "the objective 'energy' needs the device's energy, which cannot be measured: the "
            "backend has no meter of energy");
  EXPECT_TRUE(Store(database(), Store::Mode::read).sessions().empty());
}

TEST_F(ObjectiveTest, TheLeaderIsMeasuredAgainAndThatIsStored) {
  TuneRequest tuned = request({"good"});
  tuned.options.drift = {0, 1, 1};  // at every chance
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(tuned, store, silent);
  ASSERT_FALSE(result.drift.empty());
  EXPECT_EQ(store.drift(result.id), result.drift);
  for (const DriftRecord& drift : result.drift) {
    EXPECT_GE(drift.sequence, 1);
    EXPECT_THAT(drift.config, HasSubstr("good:block="));
    EXPECT_GT(drift.ratio, 0);
    EXPECT_LE(drift.low, drift.ratio);
    EXPECT_GE(drift.high, drift.ratio);
    EXPECT_GT(drift.took_ns, 0);
  }
}

TEST_F(ObjectiveTest, ConfigsAreComparedInOneProcess) {
  const TuneRequest like = request({});
  ComparisonOptions options;
  options.measure = like.options.measure;
  options.rounds = {8, 8, 0};
  options.finals = 2;
  const auto config = [&](const char* text) {
    const DeviceInfo device = device_for_architecture("opencl", "opencl");
    return Setting(spec_, like.problem, device).parse(text);
  };
  const Comparison comparison =
      compare({spec_,
               like.problem,
               "opencl",
               0,
               {config("good:block=64"), config("naive"), config("good:block=64")},
               options});
  ASSERT_EQ(comparison.samples.size(), 2U);
  for (const auto& finals : comparison.samples) {
    ASSERT_EQ(finals.size(), 3U);
    for (const auto& rounds : finals) EXPECT_EQ(rounds.size(), 8U);
  }
  EXPECT_EQ(comparison.wrong, (std::vector<std::string>(3)));
}

TEST_F(ObjectiveTest, AComparisonNamesWhatIsWrongAndFailsOnWhatDoesNotCompile) {
  const TuneRequest like = request({});
  ComparisonOptions options;
  options.measure = like.options.measure;
  options.rounds = {2, 2, 0};
  const Config right{"good", {{"block", std::int64_t{64}}}};
  const Comparison comparison =
      compare({spec_, like.problem, "opencl", 0, {right, Config{"wrong", {}}}, options});
  EXPECT_EQ(comparison.wrong[0], "");
  EXPECT_THAT(comparison.wrong[1], HasSubstr("y["));
  EXPECT_THROW((void)compare({spec_, like.problem, "opencl", 0, {Config{"broken", {}}}, options}),
               Error);
}

}  // namespace
}  // namespace kiln
