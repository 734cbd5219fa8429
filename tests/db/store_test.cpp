// What is stored comes back: sessions, trials of every outcome, bests, resuming, publishing.
// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/field_json.hpp"
#include "core/json.hpp"
#include "tests/db/store_places.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::ScratchFolder;
using test::some_best;
using test::some_session;
using test::some_trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(const std::function<void()>& work) {
  return test::error_of<DatabaseError>([&] { work(); }, "no error");
}

using StoreTest = test::OverStores;
KILN_OVER_STORES(StoreTest);

TEST_P(StoreTest, RowsOfAmdDevicesFromBeforeTheirUnitsCountedAreTheSameDevices) {
  SessionRecord record = some_session();
  record.device_info = device_for_architecture("hip", "gfx90a");
  record.key.device = "hip/amd/MI250X (made up)/gfx90a";
  Store store(place("k.db"), Store::Mode::write);
  const SessionId id = store.begin_session(record);
  EXPECT_EQ(store.session(id)->key.device, identity_of(record.device_info));
  record.key.device = "hip/amd/MI250X (made up)/gfx90a/104 units";  // another board
  const SessionId other = store.begin_session(record);
  EXPECT_EQ(store.session(other)->key.device, record.key.device);
}

TEST_P(StoreTest, KeepsTrialsOfEveryOutcomeInOrder) {
  std::vector<Trial> given;
  for (const Outcome outcome : all_outcomes()) {
    given.push_back(some_trial(static_cast<std::int64_t>(given.size()) + 1, outcome));
  }
  {
    Store store(place("kiln.db"), Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    for (std::size_t i = 0; i < given.size(); ++i) {
      store.append(session, static_cast<std::int64_t>(i) + 1, given[i]);
    }
  }
  const Store store(place("kiln.db"), Store::Mode::read);
  const std::vector<TrialRecord> stored = store.trials(1);
  ASSERT_EQ(stored.size(), given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(stored[i].sequence, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(field_json(stored[i].trial), field_json(given[i]));
  }
  EXPECT_THAT(store.check(), IsEmpty());

  const Store::Info info = store.info();
  EXPECT_EQ(info.schema_version, 5);
  EXPECT_EQ(info.sessions, 1);
  EXPECT_EQ(info.trials, static_cast<std::int64_t>(given.size()));
  EXPECT_EQ(info.failures, static_cast<std::int64_t>(given.size()) - 1);
  EXPECT_EQ(info.bests, 0);
  EXPECT_THAT(info.devices, ElementsAre("cuda/nvidia/Test GPU/sm_90a"));
}

TEST_P(StoreTest, KeepsSessionsWithTheirDeviceAndLargestSeed) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId id = store.begin_session(some_session());
  const SessionRecord stored = store.session(id).value();
  EXPECT_EQ(stored.key, some_session().key);
  EXPECT_EQ(stored.device_info, test::some_device());
  EXPECT_EQ(stored.problem_json, R"({"n":1000})");
  EXPECT_EQ(stored.budget, "seconds=60 trials=200");
  EXPECT_EQ(stored.space_size, 12);
  EXPECT_EQ(stored.state, SessionState::running);
  EXPECT_EQ(stored.finished_at, "");
  EXPECT_EQ(stored.started_at.size(), std::string("2026-11-21T08:30:00Z").size());
  EXPECT_FALSE(store.session(id + 1));
}

TEST_P(StoreTest, KeepsNumbersThatAreNone) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  Trial trial = some_trial(1, Outcome::wrong_result);
  trial.time_ns = std::numeric_limits<double>::quiet_NaN();
  trial.max_error = std::numeric_limits<double>::quiet_NaN();
  store.append(session, 1, trial);
  trial = some_trial(2, Outcome::wrong_result);
  trial.max_error = std::numeric_limits<double>::infinity();
  store.append(session, 2, trial);
  const std::vector<TrialRecord> stored = store.trials(session);
  EXPECT_EQ(stored.at(0).trial.time_ns, 0);
  EXPECT_TRUE(std::isinf(stored.at(0).trial.max_error));
  EXPECT_TRUE(std::isinf(stored.at(1).trial.max_error));
}

TEST_P(StoreTest, OneCommitStoresATrialAndBeginsTheNextAttempt) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  const std::string second = some_trial(128).config.text();
  store.append(session, 1, some_trial(64), 0.5, second);
  ASSERT_EQ(store.attempts(session).size(), 1U);
  EXPECT_EQ(store.attempts(session).front().config, second);
  EXPECT_EQ(store.attempts(session).front().begun, 1);
  EXPECT_FALSE(error_of([&] { store.append(session, 1, some_trial(128), 0, "another"); }).empty());
  EXPECT_EQ(store.attempts(session).size(), 1U) << "all of it or nothing";
  store.append(session, 2, some_trial(128));
  EXPECT_TRUE(store.attempts(session).empty());
}

TEST_P(StoreTest, KeepsMessagesOfAnyBytes) {
  Store store(place("kiln.db"), Store::Mode::write);
  SessionRecord record = some_session();
  record.device_info.name = "GPU \xff of a driver that knows no UTF-8";
  const SessionId session = store.begin_session(record);
  Trial trial = some_trial(1, Outcome::compile_error);
  trial.message = std::string("'; DROP TABLE trials; --\n\xff\0end", 30);
  store.append(session, 1, trial);
  // A server keeps text in UTF-8 without NUL.
  const std::string replaced = "'; DROP TABLE trials; --\n\uFFFD\uFFFDend";
  EXPECT_EQ(store.trials(session).at(0).trial.message, is_file() ? trial.message : replaced);
  EXPECT_THAT(store.session(session)->device_info.name, HasSubstr("of a driver"));
}

TEST_P(StoreTest, RefusesToMeasureAConfigOrNumberASequenceTwice) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(64));
  const std::string name = place("kiln.db").string();
  EXPECT_EQ(error_of([&] { store.append(session, 1, some_trial(128)); }),
            name + (is_file() ? ": UNIQUE constraint failed: trials.session, trials.sequence"
                              : ": duplicate key value violates unique constraint "
                                "\"trials_session_sequence_key\""));
  EXPECT_EQ(error_of([&] { store.append(session, 2, some_trial(64)); }),
            name + (is_file() ? ": UNIQUE constraint failed: trials.session, trials.config"
                              : ": duplicate key value violates unique constraint "
                                "\"trials_session_config_key\""));
  EXPECT_EQ(error_of([&] { store.append(session + 1, 1, some_trial(64)); }),
            name + (is_file() ? ": FOREIGN KEY constraint failed"
                              : ": insert or update on table \"trials\" violates foreign key "
                                "constraint \"trials_session_fkey\""));
  EXPECT_EQ(store.trials(session).size(), 1U);
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_P(StoreTest, FindsTheSessionToResume) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionKey key = some_session().key;
  EXPECT_FALSE(store.find_unfinished(key));

  const SessionId killed = store.begin_session(some_session());
  store.append(killed, 1, some_trial(64));
  ASSERT_TRUE(store.find_unfinished(key));
  EXPECT_EQ(store.find_unfinished(key)->id, killed);
  EXPECT_EQ(store.find_unfinished(key)->trial_count, 1);
  EXPECT_FALSE(store.find_finished(key));

  // Each part of the key that differs makes another session.
  for (const auto& change : std::vector<std::function<void(SessionKey&)>>{
           [](SessionKey& k) { k.kernel = "other"; }, [](SessionKey& k) { k.spec_hash = "other"; },
           [](SessionKey& k) { k.problem = "other"; }, [](SessionKey& k) { k.device = "other"; },
           [](SessionKey& k) { k.driver = "other"; }, [](SessionKey& k) { k.compiler = "other"; },
           [](SessionKey& k) { k.tool_version = "other"; },
           [](SessionKey& k) { k.strategy = "other"; }, [](SessionKey& k) { k.seed = 1; },
           [](SessionKey& k) { k.options = "other"; }}) {
    SessionKey other = key;
    change(other);
    EXPECT_FALSE(store.find_unfinished(other));
  }

  store.finish(killed, SessionState::interrupted, 1.5, std::nullopt);
  EXPECT_EQ(store.find_unfinished(key)->state, SessionState::interrupted);
  store.reopen(killed, "seconds=60");
  EXPECT_EQ(store.find_unfinished(key)->state, SessionState::running);
  store.finish(killed, SessionState::finished, 2.0, some_best(64));
  EXPECT_FALSE(store.find_unfinished(key));
  EXPECT_EQ(store.find_finished(key)->id, killed);
  EXPECT_EQ(store.find_finished(key)->wall_seconds, 3.5);
  EXPECT_NE(store.find_finished(key)->finished_at, "");
}

TEST_P(StoreTest, AnswersWithTheNewestBestOfAProblem) {
  Store store(place("kiln.db"), Store::Mode::write);
  for (const std::int64_t block_size : {64, 128}) {
    const SessionId session = store.begin_session(some_session());
    store.append(session, 1, some_trial(block_size));
    store.finish(session, SessionState::finished, 1, some_best(block_size));
  }
  const SessionId other = store.begin_session(some_session("n=2000"));
  store.append(other, 1, some_trial(256));
  BestRecord best = some_best(256);
  best.naive_time_ns = 9000;
  store.finish(other, SessionState::finished, 1, best);

  const std::vector<BestRecord> bests = store.bests("scale");
  ASSERT_EQ(bests.size(), 2U);
  EXPECT_EQ(bests[0].config.text(), "vector:block_size=128");
  EXPECT_FALSE(bests[0].naive_time_ns);
  EXPECT_EQ(bests[1].config.text(), "vector:block_size=256");
  EXPECT_EQ(bests[1].naive_time_ns, 9000);
  EXPECT_EQ(bests[1].key, some_session("n=2000").key);
  EXPECT_EQ(bests[1].device_info, test::some_device());
  EXPECT_EQ(bests[1].template_hash, "00000000000000bb");
  EXPECT_EQ(bests[1].verdict, Verdict::better);
  EXPECT_EQ(bests[1].evidence, R"({"finalists":[]})");
  EXPECT_THAT(store.bests("matmul"), IsEmpty());
  EXPECT_EQ(store.bests().size(), 2U);
  EXPECT_THAT(store.check(), IsEmpty());
}

// Whatever its date: what was seen to be wrong here is not answered again.
TEST_P(StoreTest, ABestThatIsKnownToBeWrongHereNeverAnswers) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(64));
  store.append(session, 2, some_trial(128));
  store.refuse(session, "vector:block_size=128", {Outcome::wrong_result, "fails at the end"});
  store.finish(session, SessionState::finished, 1, some_best(64));
  EXPECT_EQ(store.trials(session).back().trial.outcome, Outcome::wrong_result);
  EXPECT_EQ(store.trials(session).back().trial.message, "fails at the end");
  EXPECT_TRUE(store.refuses([] {
    BestRecord best = some_best(128);
    best.key = some_session().key;
    return best;
  }()));

  FinishedSession imported;  // of the same spec; its config is faster, and wrong here
  imported.record = some_session();
  imported.record.key.seed = 7;
  imported.record.state = SessionState::finished;
  imported.best = some_best(128);
  imported.best->key = imported.record.key;
  imported.best->time_ns = 10;
  imported.best->published_at = "2999-01-01T00:00:00Z";
  EXPECT_EQ(store.add_sessions({imported}), 1U);
  ASSERT_EQ(store.bests("scale").size(), 1U);
  EXPECT_EQ(store.bests("scale").front().config.text(), "vector:block_size=64");

  imported.record.key.spec_hash = "another source";
  imported.best->published_at = "2999-01-02T00:00:00Z";
  EXPECT_EQ(store.add_sessions({imported}), 1U);
  EXPECT_EQ(store.bests("scale").front().config.text(), "vector:block_size=128");
}

TEST_P(StoreTest, KeepsTheBestsOfBothTimings) {
  Store store(place("kiln.db"), Store::Mode::write);
  SessionRecord eager = some_session();
  SessionRecord graph = some_session();
  graph.key.timing = Timing::graph;
  for (const auto& [record, block_size] : {std::pair(eager, 64), std::pair(graph, 128)}) {
    EXPECT_FALSE(store.find_finished(record.key)) << "the timing is part of a session's identity";
    const SessionId session = store.begin_session(record);
    store.append(session, 1, some_trial(block_size));
    store.finish(session, SessionState::finished, 1, some_best(block_size));
    EXPECT_EQ(store.find_finished(record.key)->id, session);
    EXPECT_EQ(store.session(session)->key, record.key);
  }
  const std::vector<BestRecord> bests = store.bests("scale");
  ASSERT_EQ(bests.size(), 2U);
  EXPECT_EQ(bests[0].key.timing, Timing::eager);
  EXPECT_EQ(bests[0].config.text(), "vector:block_size=64");
  EXPECT_EQ(bests[1].key.timing, Timing::graph);
  EXPECT_EQ(bests[1].config.text(), "vector:block_size=128");
}

TEST_P(StoreTest, KeepsWhatIsMeasuredBesideTime) {
  Trial given = some_trial(64);
  given.metrics = {{"energy", 0.25}, {"bandwidth", 12.5}};
  given.samples.memory_clock_khz = 3201000;
  given.samples.temperature_c = 61;
  given.samples.power_mw = 512000;
  given.samples.throttle = "power_cap,heat";
  const DriftRecord drift = {1, given.config.text(), 1.05, 1.02, 1.08, 12345};
  {
    Store store(place("kiln.db"), Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    store.append(session, 1, given);
    store.append(session, 2, some_trial(128));
    store.add_drift(session, drift);
  }
  const Store store(place("kiln.db"), Store::Mode::read);
  const std::vector<TrialRecord> trials = store.trials(1);
  EXPECT_EQ(trials[0].trial.metrics, given.metrics);
  EXPECT_EQ(trials[0].trial.samples.memory_clock_khz, 3201000);
  EXPECT_EQ(trials[0].trial.samples.temperature_c, 61);
  EXPECT_EQ(trials[0].trial.samples.power_mw, 512000);
  EXPECT_EQ(trials[0].trial.samples.throttle, "power_cap,heat");
  EXPECT_TRUE(trials[1].trial.metrics.empty());
  EXPECT_EQ(trials[1].trial.samples.throttle, "unknown");
  EXPECT_THAT(store.drift(1), ElementsAre(drift));
  EXPECT_TRUE(drift.beyond_noise());
  EXPECT_THAT(store.check(), IsEmpty());
}

/// Gives each field another value than its default, and no two of a type the same.
class FillFields {
 public:
  void operator()(const char* /*name*/, bool& field) { field = !field; }
  void operator()(const char* /*name*/, std::int64_t& field) { field = ++last_; }
  void operator()(const char* /*name*/, double& field) {
    field = static_cast<double>(++last_) + 0.25;
  }
  void operator()(const char* name, std::string& field) { field = std::string("some ") + name; }
  void operator()(const char* /*name*/, std::vector<double>& field) { field = {1.5, 2.5}; }
  void operator()(const char* /*name*/, std::map<std::string, double>& field) {
    field = {{"energy", 0.25}};
  }
  void operator()(const char* /*name*/, Config& field) { field = some_trial(64).config; }
  void operator()(const char* /*name*/, Outcome& field) { field = Outcome::wrong_result; }
  template <HasFields T>
  void operator()(const char* /*name*/, T& nested) {
    visit_fields(nested, *this);
  }

 private:
  std::int64_t last_ = 0;
};

TEST_P(StoreTest, KeepsEachFieldOfATrial) {
  Trial given;
  visit_fields(given, FillFields());
  {
    Store store(place("kiln.db"), Store::Mode::write);
    store.append(store.begin_session(some_session()), 1, given);
  }
  const Store store(place("kiln.db"), Store::Mode::read);
  EXPECT_EQ(field_json(store.trials(1).at(0).trial), field_json(given));
}

TEST_P(StoreTest, ABestForEnergyLeavesTheBestForTimeAlone) {
  Store store(place("kiln.db"), Store::Mode::write);
  for (const std::int64_t block_size : {64, 128}) {
    const SessionId session = store.begin_session(some_session());
    store.append(session, 1, some_trial(block_size));
    BestRecord best = some_best(block_size);
    if (block_size == 128) {
      best.objective = "energy";
      best.value = 0.25;
      best.default_value = 0.5;
    }
    store.finish(session, SessionState::finished, 1, best);
  }
  const std::vector<BestRecord> time = store.bests("scale");
  ASSERT_EQ(time.size(), 1U);
  EXPECT_EQ(time[0].config, some_best(64).config);
  EXPECT_EQ(time[0].objective, "time");
  const std::vector<BestRecord> energy = store.bests("scale", "energy");
  ASSERT_EQ(energy.size(), 1U);
  EXPECT_EQ(energy[0].config, some_best(128).config);
  EXPECT_EQ(energy[0].value, 0.25);
  EXPECT_EQ(energy[0].default_value, 0.5);
  EXPECT_EQ(store.best_of(2)->objective, "energy");
  EXPECT_FALSE(store.best_of(3).has_value());
}

TEST_P(StoreTest, CheckFindsWhatNoTrialProved) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(64));
  store.append(session, 3, some_trial(128));
  store.finish(session, SessionState::finished, 1, some_best(256));
  EXPECT_THAT(store.check(),
              ElementsAre("session 1 has 2 trials but its last sequence number is 3",
                          "session 1 publishes a best that none of its trials proved"));
}

TEST_P(StoreTest, PublishesACopyThatReadersOpenWithoutLocks) {
  Store store(place("kiln.db"), Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(256));
  store.finish(session, SessionState::finished, 1, some_best());

  const auto published = folder_ / "published 100%#?.db";  // what a URI would take apart
  store.publish(published);
  store.publish(published);  // replaces
  const Store copy(published, Store::Mode::immutable);
  EXPECT_EQ(copy.bests().at(0).config, some_best().config);
  EXPECT_EQ(copy.trials(1).size(), 1U);
  EXPECT_THAT(copy.check(), IsEmpty());

  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_EQ(error_of([&] { store.publish(folder_ / "nowhere/kiln.db"); }),
            (folder_ / "nowhere/kiln.db").string() + ": there is no folder " +
                (folder_ / "nowhere").string());
  if (!is_file()) {
    EXPECT_THAT(names, ElementsAre("published 100%#?.db"));
    return;
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("kiln.db", "kiln.db-wal", "kiln.db-shm",
                                                     "kiln.db.writer", "published 100%#?.db"));
  EXPECT_EQ(error_of([&] { store.publish(place("kiln.db")); }),
            place("kiln.db").string() + ": is the database itself; publish to another file");
}

TEST_P(StoreTest, ReadersSeeWhatAWriterCommitted) {
  Store writer(place("kiln.db"), Store::Mode::write);
  const Store reader(place("kiln.db"), Store::Mode::read);
  const SessionId session = writer.begin_session(some_session());
  writer.append(session, 1, some_trial(64));
  EXPECT_EQ(reader.trials(session).size(), 1U);
}

TEST(DefaultDatabasePath, IsTheFirstOfThreePlaces) {
  ::setenv("KILN_DB", "/data/mine.db", 1);
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_database_path(), "/data/mine.db");
  ::unsetenv("KILN_DB");
  EXPECT_EQ(default_database_path(), "/data/kiln/kiln.db");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_database_path(), "/home/someone/.local/share/kiln/kiln.db");
}

TEST(DefaultDatabasePath, IsNowhereWithoutAHome) {
  ::setenv("HOME", "", 1);
  EXPECT_EQ(default_database_path(), "");
  ::unsetenv("HOME");
  EXPECT_EQ(default_database_path(), "");
  const std::string nowhere =
      "there is no place for the database: none of KILN_DB, XDG_DATA_HOME and HOME is set; name a "
      "file with --db or KILN_DB";
  EXPECT_EQ(error_of([] { Store(default_database_path(), Store::Mode::read); }), nowhere);
  EXPECT_EQ(error_of([] { Store(default_database_path(), Store::Mode::write); }), nowhere);
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(error_of([] { Store("", Store::Mode::read); }),
            "'' names no database file; name one with --db");
}

// A clock that goes backwards changes nothing but the times that are printed.
TEST(BackwardClock, TheBestStoredLastCounts) {
  const ScratchFolder folder;
  Store store(folder / "kiln.db", Store::Mode::write);
  SessionRecord later = some_session();
  later.started_at = "2026-03-01T00:00:00Z";
  SessionRecord earlier = some_session();
  earlier.started_at = "2025-03-01T00:00:00Z";
  std::int64_t block = 100;
  for (const SessionRecord& record : {later, earlier}) {
    const SessionId session = store.begin_session(record);
    store.append(session, 1, some_trial(++block));
    BestRecord best = some_best(block);
    best.published_at = record.started_at;
    store.finish(session, SessionState::finished, 1, best);
  }
  ASSERT_EQ(store.bests().size(), 1U);
  EXPECT_EQ(store.bests()[0].config, some_trial(102).config);
  EXPECT_EQ(store.find_finished(some_session().key)->started_at, earlier.started_at);
  EXPECT_THAT(store.check(), IsEmpty());
}

}  // namespace
}  // namespace kiln
