// Merging: the same answer in every order and however often, the furthest copy of a session, and
// both where two went on apart.
// SPDX-License-Identifier: Apache-2.0
#include "db/merge.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/store.hpp"
#include "db/writer_lock.hpp"
#include "tests/db/store_places.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::MemoryFolder;
using test::some_best;
using test::some_session;
using test::some_trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

std::string dump(const fs::path& path) {
  std::string text;
  dump_database(path, [&](const std::string& line) { text += line + "\n"; });
  return text;
}

SessionRecord session_of(const std::string& problem, const std::string& started_at) {
  SessionRecord record = some_session(problem);
  record.started_at = started_at;
  return record;
}

using MergeInto = test::OverStores;
KILN_OVER_STORES(MergeInto);

struct Content {
  SessionRecord session;
  std::int64_t trials = 0;
  std::int64_t first_config = 1;  ///< of trial `fork` and later ones
  std::int64_t fork = 1;          ///< trials before it are those of every copy
  std::optional<std::string> published = std::nullopt;  ///< time of a best; absent: unfinished
};

void write(const fs::path& path, const std::vector<Content>& contents) {
  Store store(path, Store::Mode::write);
  for (const Content& content : contents) {
    const SessionId id = store.begin_session(content.session);
    for (std::int64_t i = 1; i <= content.trials; ++i) {
      store.append(id, i, some_trial(i < content.fork ? i : content.first_config + i));
    }
    if (content.published) {
      BestRecord best = some_best(content.fork > 1 ? 1 : content.first_config + 1);
      best.published_at = *content.published;
      store.finish(id, SessionState::finished, 1, best);
    }
  }
}

constexpr const char* kMonday = "2026-01-05T10:00:00Z";
constexpr const char* kTuesday = "2026-01-06T10:00:00Z";
constexpr const char* kWednesday = "2026-01-07T10:00:00Z";

TEST(MergeIntoAFile, KeepsWhatItsLastWriterMadeWhileTheMergeWaitedForTheLock) {
  const MemoryFolder folder;
  write(folder / "a.db", {{session_of("n=1", kMonday), 3, 1, 1, kMonday}});
  write(folder / "b.db", {{session_of("n=2", kTuesday), 2, 1, 1, kTuesday}});
  auto lock = std::make_unique<WriterLock>(folder / "new.db");
  std::thread merge([&] { merge_databases({folder / "b.db"}, folder / "new.db"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits for 500
  fs::copy_file(folder / "a.db", folder / "new.db");
  lock.reset();
  merge.join();
  EXPECT_EQ(Store(folder / "new.db", Store::Mode::read).sessions().size(), 2U);
}

TEST_P(MergeInto, HoldsTheSessionsOfAllFiles) {
  const MemoryFolder folder;
  write(folder / "a.db", {{session_of("n=1", kMonday), 3, 1, 1, kMonday}});
  write(folder / "b.db", {{session_of("n=2", kTuesday), 2, 1, 1, kTuesday}});
  const MergeReport report = merge_databases({folder / "b.db", folder / "a.db"}, place("c.db"));
  EXPECT_EQ(report.files, is_file() ? 2U : 3U);  // a server is always there
  EXPECT_EQ(report.sessions, 2U);
  EXPECT_EQ(report.trials, 5U);
  EXPECT_EQ(report.bests, 2U);
  EXPECT_EQ(report.repeated, 0U);

  const Store merged(place("c.db"), Store::Mode::read);
  EXPECT_THAT(merged.check(), IsEmpty());
  ASSERT_EQ(merged.sessions().size(), 2U);
  EXPECT_EQ(merged.sessions()[0].key.problem, "n=1");  // by start
  EXPECT_EQ(merged.trials(1).size(), 3U);
  EXPECT_EQ(merged.trials(1)[2].trial.samples.ns, some_trial(1).samples.ns);
  EXPECT_EQ(merged.bests().size(), 2U);
}

TEST_P(MergeInto, TakesTheFurthestCopyOfASession) {
  const MemoryFolder folder;
  write(folder / "early.db", {{session_of("n=1", kMonday), 2}});
  write(folder / "late.db", {{session_of("n=1", kMonday), 5}});
  write(folder / "done.db", {{session_of("n=1", kMonday), 5, 1, 1, kMonday}});
  const MergeReport report =
      merge_databases({folder / "done.db", folder / "early.db", folder / "late.db"}, place("c.db"));
  EXPECT_EQ(report.sessions, 1U);
  EXPECT_EQ(report.repeated, 2U);
  EXPECT_EQ(report.apart, 0U);
  const Store merged(place("c.db"), Store::Mode::read);
  EXPECT_EQ(merged.sessions()[0].state, SessionState::finished);
  EXPECT_EQ(merged.trials(1).size(), 5U);
  EXPECT_EQ(dump(place("c.db")), dump(folder / "done.db"));
}

TEST_P(MergeInto, KeepsCopiesThatWentOnApart) {
  const MemoryFolder folder;
  write(folder / "here.db", {{session_of("n=1", kMonday), 4, 100, 3}});
  write(folder / "there.db", {{session_of("n=1", kMonday), 6, 200, 3}});
  const MergeReport report =
      merge_databases({folder / "here.db", folder / "there.db"}, place("c.db"));
  EXPECT_EQ(report.sessions, 2U);
  EXPECT_EQ(report.apart, 1U);
  EXPECT_EQ(report.trials, 10U);
  EXPECT_THAT(Store(place("c.db"), Store::Mode::read).check(), IsEmpty());
}

// Of two that went on from what is there, the second is a session of its own.
TEST_P(MergeInto, KeepsBothThatWentOnFromWhatIsThere) {
  const MemoryFolder folder;
  write(folder / "base.db", {{session_of("n=1", kMonday), 2, 1, 3}});
  write(folder / "here.db", {{session_of("n=1", kMonday), 4, 100, 3}});
  write(folder / "there.db", {{session_of("n=1", kMonday), 6, 200, 3}});
  merge_databases({folder / "base.db"}, place("c.db"));
  const MergeReport report =
      merge_databases({folder / "here.db", folder / "there.db"}, place("c.db"));
  EXPECT_EQ(report.apart, 1U);
  const Store merged(place("c.db"), Store::Mode::read);
  std::multiset<std::size_t> trials;
  for (const SessionRecord& session : merged.sessions())
    trials.insert(merged.trials(session.id).size());
  EXPECT_THAT(trials, ElementsAre(4U, 6U));
}

// A best for energy that was published later is no answer for time.
TEST_P(MergeInto, TheBestPublishedLastCountsForItsObjective) {
  const MemoryFolder folder;
  write(folder / "old.db", {{session_of("n=1", kMonday), 2, 300, 1, kMonday}});
  {
    Store store(folder / "energy.db", Store::Mode::write);
    const SessionId id = store.begin_session(session_of("n=1", kTuesday));
    store.append(id, 1, some_trial(1));
    BestRecord best = some_best(2);
    best.objective = "energy";
    best.published_at = kWednesday;
    store.finish(id, SessionState::finished, 1, best);
  }
  write(folder / "new.db", {{session_of("n=1", kTuesday), 2, 700, 1, kTuesday}});
  for (const char* name : {"old.db", "energy.db", "new.db"})
    merge_databases({folder / name}, place("c.db"));
  const std::vector<BestRecord> bests = Store(place("c.db"), Store::Mode::read).bests();
  ASSERT_EQ(bests.size(), 1U);
  EXPECT_EQ(bests[0].config.text(), "vector:block_size=701");
}

TEST_P(MergeInto, TheBestPublishedLastCounts) {
  const MemoryFolder folder;
  write(folder / "new.db", {{session_of("n=1", kMonday), 2, 700, 1, kWednesday}});
  write(folder / "old.db", {{session_of("n=1", kTuesday), 2, 300, 1, kTuesday}});
  for (const auto& order : {std::vector{folder / "new.db", folder / "old.db"},
                            std::vector{folder / "old.db", folder / "new.db"}}) {
    const fs::path target = place("c.db " + std::to_string(order.front() == folder / "new.db"));
    for (const fs::path& one : order) merge_databases({one}, target);
    const std::vector<BestRecord> bests = Store(target, Store::Mode::read).bests();
    ASSERT_EQ(bests.size(), 1U);
    EXPECT_EQ(bests[0].config.text(), "vector:block_size=701");
  }
}

TEST_P(MergeInto, EachTimingHasABest) {
  const MemoryFolder folder;
  SessionRecord graph = session_of("n=1", kMonday);
  graph.key.timing = Timing::graph;
  write(folder / "graph.db", {{graph, 2, 700, 1, kWednesday}});
  write(folder / "eager.db", {{session_of("n=1", kTuesday), 2, 300, 1, kTuesday}});
  for (const auto& order : {std::vector{folder / "graph.db", folder / "eager.db"},
                            std::vector{folder / "eager.db", folder / "graph.db"}}) {
    const fs::path target = place("c.db " + std::to_string(order.front() == folder / "graph.db"));
    for (const fs::path& one : order) merge_databases({one}, target);
    std::map<Timing, std::string> configs;
    for (const BestRecord& best : Store(target, Store::Mode::read).bests())
      configs[best.key.timing] = best.config.text();
    EXPECT_THAT(configs, ElementsAre(Pair(Timing::eager, "vector:block_size=301"),
                                     Pair(Timing::graph, "vector:block_size=701")));
  }
}

TEST(Merge, ATargetThatIsThereIsPartOfIt) {
  const MemoryFolder folder;
  write(folder / "a.db", {{session_of("n=1", kMonday), 3}});
  write(folder / "c.db", {{session_of("n=2", kTuesday), 2}});
  EXPECT_EQ(merge_databases({folder / "a.db"}, folder / "c.db").files, 2U);
  EXPECT_EQ(Store(folder / "c.db", Store::Mode::read).sessions().size(), 2U);
  // Named as its own source too, and nothing beside it afterwards.
  EXPECT_EQ(merge_databases({folder / "c.db", folder / "a.db"}, folder / "c.db").sessions, 2U);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_THAT(names, ElementsAre("a.db", "c.db"));
}

TEST(Merge, ChangesNothingWhenAFileIsUnusable) {
  const MemoryFolder folder;
  write(folder / "c.db", {{session_of("n=2", kTuesday), 2}});
  const std::string before = dump(folder / "c.db");
  std::ofstream(folder / "bad.db") << std::string(5000, 'x');
  EXPECT_EQ(
      test::error_of<DatabaseError>([&] { merge_databases({folder / "bad.db"}, folder / "c.db"); }),
      (folder / "bad.db").string() +
          ": is no database, or damaged from its first bytes on; name "
          "another file with --db");
  EXPECT_THAT(test::error_of<DatabaseError>(
                  [&] { merge_databases({folder / "none.db"}, folder / "c.db"); }),
              StartsWith((folder / "none.db").string() + ": there is no such"));
  EXPECT_EQ(dump(folder / "c.db"), before);
}

TEST(Merge, WaitsForNobodyWhoWritesTheTarget) {
  const MemoryFolder folder;
  write(folder / "a.db", {{session_of("n=1", kMonday), 3}});
  const Store writer(folder / "c.db", Store::Mode::write);
  EXPECT_THAT(
      test::error_of<DatabaseError>([&] { merge_databases({folder / "a.db"}, folder / "c.db"); }),
      HasSubstr("is being written by process "));
}

// --- The algebra
// ----------------------------------------------------------------------------------

/// Four files that overlap in every way: earlier and later copies, copies that went on apart,
/// finished and not, a session that is alone, and bests of one problem by two sessions.
std::vector<fs::path> overlapping_files(const MemoryFolder& folder) {
  const SessionRecord shared = session_of("n=1", kMonday);
  const SessionRecord forked = session_of("n=2", kMonday);
  const SessionRecord again = session_of("n=1", kTuesday);
  write(folder / "a.db", {{shared, 2}, {forked, 4, 100, 3}, {again, 1, 40, 1, kWednesday}});
  write(folder / "b.db", {{session_of("n=9", kTuesday), 3, 1, 1, kTuesday}, {shared, 4}});
  write(folder / "c.db", {{forked, 5, 200, 3, kTuesday}, {shared, 4, 1, 1, kMonday}});
  write(folder / "d.db", {{forked, 2, 1, 3}, {again, 1, 40, 1, kWednesday}});
  return {folder / "a.db", folder / "b.db", folder / "c.db", folder / "d.db"};
}

/// Merges in a random order, in random groups, some files more than once; gives the name of the
/// result.
fs::path merge_somehow(const MemoryFolder& folder, std::vector<fs::path> files,
                       std::mt19937& random) {
  const std::size_t repeats = random() % 3;
  for (std::size_t i = 0; i < repeats; ++i) files.push_back(files[random() % files.size()]);
  std::shuffle(files.begin(), files.end(), random);
  int made = 0;
  while (files.size() > 1) {
    const std::size_t count = std::min<std::size_t>(2 + random() % 3, files.size());
    const std::vector<fs::path> group(files.end() - static_cast<std::ptrdiff_t>(count),
                                      files.end());
    files.resize(files.size() - count);
    const fs::path result = folder / ("step" + std::to_string(made++));
    fs::remove(result);
    merge_databases(group, result);
    files.insert(files.begin() + static_cast<std::ptrdiff_t>(random() % (files.size() + 1)),
                 result);
  }
  return files.front();
}

TEST_P(MergeInto, GivesOneDumpInEveryOrder) {
  const int orders = is_file() ? 1000 / static_cast<int>(test::part_of_lists()) : 25;
  const MemoryFolder folder;
  const std::vector<fs::path> files = overlapping_files(folder);
  merge_databases(files, folder / "whole.db");
  const std::string whole = dump(folder / "whole.db");
  EXPECT_EQ(Store(folder / "whole.db", Store::Mode::read).sessions().size(), 5U);
  EXPECT_THAT(Store(folder / "whole.db", Store::Mode::read).check(), IsEmpty());
  std::mt19937 random(20260105);
  for (int i = 0; i < orders; ++i) {
    const fs::path merged = merge_somehow(folder, files, random);
    ASSERT_EQ(dump(merged), whole) << "order " << i;
    if (is_file()) continue;
    // One file after the other into a server, and the server into a file.
    std::vector<fs::path> shuffled = files;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const fs::path server = place(std::to_string(i));
    for (const fs::path& file : shuffled) merge_databases({file}, server);
    fs::remove(folder / "back.db");
    merge_databases({server}, folder / "back.db");
    ASSERT_EQ(dump(folder / "back.db"), dump(server)) << "order " << i;
    ASSERT_EQ(dump(server), whole) << "order " << i;
  }
}

TEST_P(MergeInto, OnceMoreChangesNothing) {
  const MemoryFolder folder;
  const std::vector<fs::path> files = overlapping_files(folder);
  merge_databases(files, place("whole.db"));
  const std::string whole = dump(place("whole.db"));
  for (const fs::path& file : files) {
    merge_databases({file}, place("whole.db"));
    EXPECT_EQ(dump(place("whole.db")), whole);
  }
  merge_databases({place("whole.db")}, folder / "copy.db");
  EXPECT_EQ(dump(folder / "copy.db"), whole);
}

TEST_P(MergeInto, AFieldWithoutAColumnIsMergedByItsName) {
  const MemoryFolder folder;
  const fs::path file = folder / "a.db";
  Trial known = some_trial(64);
  known.samples.first_run_ns = 812.5;
  {
    Store store(file, Store::Mode::write);
    const SessionId session = store.begin_session(session_of("n=1", kMonday));
    store.append(session, 1, known);
    store.append(session, 2, some_trial(128));
  }
  const std::string whole = dump(file);
  EXPECT_THAT(whole, HasSubstr(R"("fields":"{\"first_run_ns\":812.5}")"));
  EXPECT_EQ(whole.find("fields"), whole.rfind("fields")) << "left out of the second trial";
  merge_databases({file}, place("c.db"));
  EXPECT_EQ(dump(place("c.db")), whole);
  const std::vector<TrialRecord> trials = Store(place("c.db"), Store::Mode::read).trials(1);
  EXPECT_EQ(trials.at(0).trial.samples.first_run_ns, 812.5);
  EXPECT_EQ(trials.at(1).trial.samples.first_run_ns, 0);
}

TEST_P(MergeInto, FieldsOfANewerProgramAreKeptAndNotRead) {
  const MemoryFolder folder;
  const fs::path file = folder / "a.db";
  write(file, {{session_of("n=1", kMonday), 2, 1, 1, kMonday}});
  const std::string today = dump(file);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec(R"(UPDATE trials SET fields = '{"of_tomorrow":[7]}' WHERE sequence = 2)");
  const std::string tomorrow = dump(file);
  EXPECT_NE(tomorrow, today);
  EXPECT_THAT(tomorrow, HasSubstr(R"("fields":"{\"of_tomorrow\":[7]}")"));
  merge_databases({file}, place("c.db"));
  EXPECT_EQ(dump(place("c.db")), tomorrow);
  EXPECT_EQ(Store(place("c.db"), Store::Mode::read).trials(1).size(), 2U);
  merge_databases({place("c.db")}, folder / "back.db");
  EXPECT_EQ(dump(folder / "back.db"), tomorrow);
}

TEST(Merge, TheDumpHoldsEverything) {
  const MemoryFolder folder;
  write(folder / "a.db", {{session_of("n=1", kMonday), 2, 1, 1, kMonday}});
  const std::string text = dump(folder / "a.db");
  EXPECT_THAT(text, StartsWith("{\"kiln_dump\":1}\n{\"session\":{\"started_at\":\"" +
                               std::string(kMonday) + "\",\"kernel\":\"scale\","));
  EXPECT_THAT(text, HasSubstr("\"samples_ns\":[1230.25,1234.5,1250.0]"));
  EXPECT_THAT(text, HasSubstr("\"seed\":\"18446744073709551615\""));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 + 2 + 1);
  // Each column of a session counts.
  SQLite::Database((folder / "a.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE samples SET throttled = 0 WHERE trial = 2");
  EXPECT_NE(dump(folder / "a.db"), text);
}

}  // namespace
}  // namespace kiln
