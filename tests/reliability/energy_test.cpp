// A session for energy, from the worker's meter to the published best. The meter is scripted.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "endurance_fixture.hpp"

namespace kiln {
namespace {

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

}  // namespace
}  // namespace kiln
