// Promise 9: a disk that is full says so, keeps what it had, and goes on when there is room. A
// clock that goes backwards changes nothing but the times that are printed.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/merge.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/reliability/lossy_disk.hpp"
#include "tests/reliability/size.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::LossyDisk;
using test::MemoryFolder;
using test::some_best;
using test::some_session;
using test::some_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFull =
    ": the disk is full; what was stored before is kept; make room, then run the same command "
    "again";

/// What `work` is refused with; empty when it is not.
template <typename Work>
std::string refusal_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_database);
    return error.what();
  }
  return "";
}

TEST(FullDisk, KeepsEveryTrialAndGoesOnWhenThereIsRoom) {
  constexpr std::int64_t kTrials = 6;
  const int step = test::is_soak() ? 1 : 2;
  int refused = 0;
  for (int room = 0; room < 80; room += step) {
    const MemoryFolder folder;
    const fs::path path = folder / "kiln.db";
    LossyDisk disk;
    Store store(path, Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    disk.fill_up_after(room);
    for (std::int64_t i = 1; i <= kTrials; ++i) {
      const std::string refusal = refusal_of([&] { store.append(session, i, some_trial(i)); });
      if (!refusal.empty()) {
        ++refused;
        EXPECT_EQ(refusal, path.string() + kFull);
        EXPECT_EQ(store.trials(session).size(), static_cast<std::size_t>(i - 1)) << room;
        disk.fill_up_after(std::nullopt);
        store.append(session, i, some_trial(i));
      }
    }
    disk.fill_up_after(std::nullopt);
    store.finish(session, SessionState::finished, 1, some_best(1));
    EXPECT_EQ(store.trials(session).size(), static_cast<std::size_t>(kTrials));
    EXPECT_THAT(store.check(), IsEmpty()) << room;
  }
  EXPECT_GT(refused, 10);
  std::cout << "the disk was full at " << refused << " different writes\n";
}

TEST(FullDisk, LeavesTheTrialsWhenTheProgramEndsThere) {
  for (int room = 0; room < 40; room += 5) {
    const MemoryFolder folder;
    const fs::path path = folder / "kiln.db";
    std::size_t stored = 0;
    {
      LossyDisk disk;
      Store store(path, Store::Mode::write);
      const SessionId session = store.begin_session(some_session());
      disk.fill_up_after(room);
      for (std::int64_t i = 1; i <= 20; ++i) {
        if (!refusal_of([&] { store.append(session, i, some_trial(i)); }).empty()) break;
        ++stored;
      }
    }  // closes on a disk that is still full
    const Store store(path, Store::Mode::read);
    EXPECT_EQ(store.trials(1).size(), stored) << room;
    EXPECT_THAT(store.check(), IsEmpty()) << room;
  }
}

TEST(FullDisk, PublishesAndMergesAllOrNothing) {
  const MemoryFolder folder;
  const fs::path path = folder / "kiln.db";
  {
    Store store(path, Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    store.append(session, 1, some_trial(1));
    store.finish(session, SessionState::finished, 1, some_best(1));
  }
  Store(path, Store::Mode::read).publish(folder / "shared.db");
  int refused = 0;
  for (int room = 0; room < 12; room += 3) {
    LossyDisk disk;
    const Store source(path, Store::Mode::read);
    disk.fill_up_after(room);
    const std::string publishing = refusal_of([&] { source.publish(folder / "shared.db"); });
    disk.fill_up_after(room);
    const std::string merging = refusal_of([&] { merge_databases({path}, folder / "shared.db"); });
    for (const std::string& refusal : {publishing, merging}) {
      if (refusal.empty()) continue;
      ++refused;
      EXPECT_THAT(refusal, HasSubstr("the disk is full"));
    }
    disk.fill_up_after(std::nullopt);
    EXPECT_EQ(Store(folder / "shared.db", Store::Mode::read).bests().size(), 1U);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2)
        << "a file was left behind with room for " << room << " writes";
  }
  EXPECT_GT(refused, 3);
}

TEST(BackwardClock, TheBestStoredLastCounts) {
  const MemoryFolder folder;
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
