// Sessions that begin with what is known, and go on.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "search/prior.hpp"
#include "search/space.hpp"
#include "session_fixture.hpp"
#include "templates/library.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/error_of.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Warm start of whole sessions on PoCL: what one session found is where the next one begins.

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

// SIGKILL of the supervisor at any moment: the next run goes on, no trial is lost or repeated.

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
  EXPECT_EQ(test::error_of<DatabaseError>([&] { return tune(wanted, store, silent); }),
            "session 1 cannot go on: expected its trials to be numbered 1 to 2, found number "
            "9223372036854775807; `kiln tune --fresh` begins another session");
}

// What the prior calls hopeless, held against the bests that were measured on a GPU and are part of
// the program.

constexpr std::size_t kDrawn = 160;  // as many as the start of a session draws

Problem problem_of(const KernelSpec& spec, const BestRecord& best) {
  const Json json = Json::parse(best.problem_json);
  std::vector<std::pair<std::string, Value>> fields;
  for (const auto& [name, value] : json.items()) fields.emplace_back(name, value_from_json(value));
  return Problem::make(spec, fields);
}

TEST(PriorEvidence, NoBestThatWasMeasuredIsHopeless) {
  const std::size_t one_of = test::part_of_lists() > 1 ? 36 : 1;  // each costs a second
  std::size_t bests = 0;
  std::size_t drawn = 0;
  std::size_t kept = 0;
  for (const std::string& kernel : KernelLibrary().names()) {
    const KernelSpec spec = KernelLibrary().load(kernel);
    std::size_t number = 0;
    for (const BestRecord& best : shipped_bests(kernel)) {
      const std::size_t place = number++;
      if ((place + test::draw_of_the_commit()) % one_of != 0) continue;
      const Problem problem = problem_of(spec, best);
      const Space space = Space::build({spec, problem, best.device_info});
      const std::optional<std::size_t> index = space.index_of(best.config);
      if (!index) continue;  // of an earlier version of the spec
      Random random(1);
      std::vector<std::size_t> indices = {*index};
      while (indices.size() < kDrawn) indices.push_back(*space.sample(random));
      const Prior prior({spec, problem, best.device_info});
      const std::vector<std::size_t> left = hopeful(prior, space, indices, 0);
      EXPECT_EQ(left.front(), *index) << kernel << " " << problem.text();
      ++bests;
      drawn += indices.size();
      kept += left.size();
    }
  }
  EXPECT_GE(bests, 8u);
  EXPECT_LT(static_cast<double>(kept), 0.9 * static_cast<double>(drawn)) << "it is of some use";
  RecordProperty("kept_per_mille", static_cast<int>(1000 * kept / std::max<std::size_t>(1, drawn)));
}

}  // namespace
}  // namespace kiln
