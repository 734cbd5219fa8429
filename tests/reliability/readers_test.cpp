// Promise 7: many processes read while a database is replaced, written, opened and closed: no
// error, no read that mixes two states, no file left beside it.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/reliability/reader_crowd.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/scratch_folder.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::CrowdReport;
using test::MemoryFolder;
using test::ReaderCrowd;
using test::some_best;
using test::some_session;
using test::some_trial;

constexpr std::size_t kReaders = 64;
constexpr int kProblems = 8;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

/// One session for each problem, whose best says which edition it belongs to.
void write_edition(const fs::path& path, int edition) {
  Store store(path, Store::Mode::write);
  for (int problem = 0; problem < kProblems; ++problem) {
    const SessionId session =
        store.begin_session(some_session("n=" + std::to_string(1000 + problem)));
    store.append(session, 1, some_trial(256));
    BestRecord best = some_best(256);
    best.evidence = std::to_string(edition);
    store.finish(session, SessionState::finished, 1, best);
  }
}

std::string mixed_editions(const Store& store) {
  const std::vector<BestRecord> bests = store.bests();
  if (bests.size() != kProblems) return std::to_string(bests.size()) + " bests";
  for (const BestRecord& best : bests) {
    if (best.evidence != bests.front().evidence) {
      return "editions " + bests.front().evidence + " and " + best.evidence;
    }
  }
  return "";
}

TEST(Readers, SeeOneEditionWhileAPublisherReplacesTheFile) {
  constexpr int kEditions = 4;
  constexpr int kReplacements = 1000;
  const MemoryFolder folder;
  std::vector<Store> editions;
  for (int i = 0; i < kEditions; ++i) {
    const fs::path path = folder / ("edition" + std::to_string(i));
    write_edition(path, i);
    editions.emplace_back(path, Store::Mode::read);
  }
  fs::create_directory(folder / "shared");
  const fs::path published = folder / "shared" / "kiln.db";
  editions[0].publish(published);

  ReaderCrowd crowd(kReaders, published, mixed_editions, std::chrono::milliseconds(200));
  for (int i = 1; i <= kReplacements; ++i) {
    editions[static_cast<std::size_t>(i % kEditions)].publish(published);
    if (i % 10 == 0) crowd.replace(static_cast<std::size_t>(i / 10) % kReaders);
  }
  const CrowdReport& report = crowd.finish();
  EXPECT_EQ(report.errors, 0) << report.first_error;
  EXPECT_EQ(report.mixed, 0) << report.first_error;
  EXPECT_GT(report.reads, static_cast<long>(kReaders));
  std::cout << report.reads << " reads by " << kReaders << " processes during " << kReplacements
            << " replacements, 100 of the readers killed\n";
  EXPECT_THAT(names_in(folder / "shared"), ::testing::ElementsAre("kiln.db"));
}

// Trials 1, 2, 3, ... without a gap, each whole.
std::string gaps(const Store& store) {
  const std::vector<std::string> findings = store.check();
  return findings.empty() ? "" : findings.front();
}

TEST(Readers, SeeWholeTrialsWhileAWriterComesAndGoes) {
  const int rounds = test::is_soak() ? 400 : 40;
  constexpr int kTrialsARound = 5;
  const MemoryFolder folder;
  const fs::path path = folder / "kiln.db";
  SessionId session = 0;
  std::int64_t sequence = 0;
  {
    Store store(path, Store::Mode::write);
    session = store.begin_session(some_session());
  }
  ReaderCrowd crowd(8, path, gaps, std::chrono::milliseconds(0));
  for (int round = 0; round < rounds; ++round) {
    {
      Store store(path, Store::Mode::write);
      for (int i = 0; i < kTrialsARound; ++i) {
        ++sequence;
        store.append(session, sequence, some_trial(sequence));
      }
    }
    crowd.replace(static_cast<std::size_t>(round) % 8);
  }
  const CrowdReport& report = crowd.finish();
  EXPECT_EQ(report.errors, 0) << report.first_error;
  EXPECT_EQ(report.mixed, 0) << report.first_error;
  std::cout << report.reads << " reads while a writer opened and closed the file " << rounds
            << " times\n";
  EXPECT_EQ(Store(path, Store::Mode::read).trials(session).size(),
            static_cast<std::size_t>(sequence));
  // Readers were killed in the middle: the next one that may clean up does.
  { const Store store(path, Store::Mode::write); }
  EXPECT_THAT(names_in(folder.path()), ::testing::ElementsAre("kiln.db"));
}

}  // namespace
}  // namespace kiln
