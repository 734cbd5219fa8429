// Warm start of whole sessions on PoCL: what one session found is where the next one begins.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "session_fixture.hpp"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WarmStartTest : public SessionTest {
 protected:
  /// A session of n elements that may use a few trials.
  TuneRequest small_session(const std::string& problem, std::int64_t trials) const {
    TuneRequest made = request({"good"});
    made.problem = Problem::parse(spec_, problem);
    made.options.budget.trials = trials;
    return made;
  }

  /// Stores a session that found `block` to be the best for n=1000 on this device.
  void publish_best(Store& store, std::int64_t block) const {
    const Problem problem = Problem::parse(spec_, "n=1000");
    FinishedSession session;
    session.record.device_info = opencl_device();
    session.record.key.kernel = spec_.name;
    session.record.key.problem = problem.text();
    session.record.key.device = identity_of(session.record.device_info);
    session.record.problem_json = R"({"n":1000})";
    session.record.space_size = 4;
    session.record.state = SessionState::finished;
    Trial trial;
    trial.config = {"good", {{"block", Value(block)}}};
    trial.time_ns = 1000;
    session.trials = {trial};
    BestRecord best;
    best.key = session.record.key;
    best.device_info = session.record.device_info;
    best.problem_json = session.record.problem_json;
    best.config = trial.config;
    best.template_hash = template_hash(spec_, spec_.variants[0]);
    best.time_ns = trial.time_ns;
    best.verdict = Verdict::better;
    best.evidence = "{}";
    session.best = best;
    ASSERT_EQ(store.add_sessions({session}), 1u);
  }

  static DeviceInfo opencl_device() {
    for (const BackendDevices& backend : list_devices()) {
      if (backend.backend == "opencl") return backend.devices.at(0);
    }
    throw std::out_of_range("opencl");
  }

  static std::vector<std::string> configs(const Store& store, SessionId session) {
    std::vector<std::string> texts;
    for (const TrialRecord& record : store.trials(session)) {
      texts.push_back(record.trial.config.text());
    }
    return texts;
  }
};

struct Listener : SessionObserver {
  void on_start(const SessionStart& start) override { warm = start.warm; }
  std::vector<WarmConfig> warm;
};

TEST_F(WarmStartTest, BeginsAfterTheDefaultConfigWithTheBestOfANeighbourAndGoesOn) {
  Store store(database(), Store::Mode::write);
  publish_best(store, 128);
  Listener listener;
  const SessionResult begun = tune(small_session("n=2000", 2), store, listener);
  EXPECT_THAT(configs(store, begun.id), ElementsAre("good:block=64", "good:block=128"))
      << "exhaustive search would have tried a block of 16 next";
  ASSERT_EQ(listener.warm.size(), 1u);
  EXPECT_EQ(listener.warm[0].config.text(), "good:block=128");
  EXPECT_EQ(listener.warm[0].from, "the best of n=1000 on this device");
  EXPECT_EQ(begun.warm, listener.warm);

  const SessionResult more = tune(small_session("n=2000", 3), store, listener);
  EXPECT_EQ(more.id, begun.id);
  EXPECT_THAT(configs(store, begun.id),
              ElementsAre("good:block=64", "good:block=128", "good:block=16"))
      << "nothing is tried again";
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(WarmStartTest, CanBeSwitchedOff) {
  Store store(database(), Store::Mode::write);
  publish_best(store, 128);
  TuneRequest cold = small_session("n=2000", 2);
  cold.options.warm_configs = 0;
  Listener listener;
  const SessionResult result = tune(cold, store, listener);
  EXPECT_THAT(configs(store, result.id), ElementsAre("good:block=64", "good:block=16"));
  EXPECT_THAT(listener.warm, IsEmpty());
}

}  // namespace
}  // namespace kiln
