// Promise 5: whenever the power fails, the database opens and holds a prefix of the acknowledged
// trials.
//
// A session of 100 trials is stored on a disk that records its writes. Then, for a loss of power
// after every one of them, the files are made as the disk could have left them, and opened.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/file_system.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/reliability/lossy_disk.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/scratch_folder.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::DiskHistory;
using test::Loss;
using test::LossyDisk;
using test::MemoryFolder;
using test::some_best;
using test::some_session;
using test::some_trial;

/// What had been acknowledged when `operations` operations had been made.
struct Acknowledged {
  std::size_t operations = 0;
  std::int64_t trials = 0;
  bool finished = false;
};

struct Recording {
  std::vector<LossyDisk::Operation> operations;
  std::vector<Acknowledged> acknowledged;

  [[nodiscard]] Acknowledged before(std::size_t operation) const {
    Acknowledged last;
    for (const Acknowledged& one : acknowledged) {
      if (one.operations <= operation) last = one;
    }
    return last;
  }
};

Recording record_session(std::int64_t trials) {
  const MemoryFolder folder;
  LossyDisk disk;
  Recording recording;
  {
    Store store(folder / "kiln.db", Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    for (std::int64_t i = 1; i <= trials; ++i) {
      store.append(session, i, some_trial(i));
      recording.acknowledged.push_back({disk.operations().size(), i, false});
    }
    store.finish(session, SessionState::finished, 1, some_best(1));
    recording.acknowledged.push_back({disk.operations().size(), trials, true});
  }
  recording.operations = disk.operations();
  return recording;
}

void write_files(const fs::path& folder, const std::map<std::string, std::string>& files) {
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry.path());
  for (const auto& [name, content] : files) {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
}

/// The first thing wrong with what `store` holds; empty when it is a prefix that fits.
std::string fault_of(const Store& store, const Acknowledged& acknowledged) {
  if (const std::vector<std::string> findings = store.check(); !findings.empty()) {
    return findings.front();
  }
  const std::vector<SessionRecord> sessions = store.sessions();
  const std::vector<TrialRecord> trials =
      sessions.empty() ? std::vector<TrialRecord>() : store.trials(sessions[0].id);
  const auto count = static_cast<std::int64_t>(trials.size());
  // The one being stored may be there already, whole.
  if (count < acknowledged.trials || count > acknowledged.trials + 1) {
    return std::to_string(count) + " trials of " + std::to_string(acknowledged.trials);
  }
  for (std::int64_t i = 1; i <= count; ++i) {
    const TrialRecord& found = trials[static_cast<std::size_t>(i - 1)];
    if (found.sequence != i || found.trial.config != some_trial(i).config ||
        found.trial.samples.ns != some_trial(i).samples.ns) {
      return "trial " + std::to_string(i) + " is another one";
    }
  }
  if (acknowledged.finished && store.bests().size() != 1) return "the best is lost";
  return "";
}

std::string fault_after(const fs::path& path, const Acknowledged& acknowledged) {
  try {
    if (acknowledged.trials == 0) {
      return fault_of(Store(path, Store::Mode::write), acknowledged);  // may be no database yet
    }
    return fault_of(Store(path, Store::Mode::read), acknowledged);
  } catch (const Error& error) {
    return error.what();
  }
}

/// Loses power after every operation of `recording`; says how many states of the disk were opened.
int lose_power_everywhere(const Recording& recording, int torn_states) {
  const MemoryFolder folder;
  DiskHistory history;
  int opened = 0;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    history.apply(recording.operations[i]);
    const Acknowledged acknowledged = recording.before(i + 1);
    for (int state = -2; state < torn_states; ++state) {
      const Loss loss = state == -2 ? Loss::unsynced : state == -1 ? Loss::nothing : Loss::torn;
      write_files(folder.path(),
                  history.after(loss, i * 1000 + static_cast<std::size_t>(state + 2)));
      EXPECT_EQ(fault_after(folder / "kiln.db", acknowledged), "")
          << "power lost after operation " << i << " of " << recording.operations.size()
          << ", state " << state;
      if (::testing::Test::HasFailure()) return opened;
      ++opened;
    }
  }
  return opened;
}

int torn_states() { return test::is_soak() ? 16 : 1; }

TEST(PowerLoss, LeavesAPrefixWithAWal) {
  const Recording recording = record_session(100);
  ASSERT_GT(recording.operations.size(), 400U);
  std::cout << lose_power_everywhere(recording, torn_states()) << " states of the disk after "
            << recording.operations.size() << " operations\n";
}

TEST(PowerLoss, LeavesAPrefixWithARollbackJournal) {
  constexpr std::uint32_t kNfs = 0x6969;
  pretend_file_system(kNfs);
  const Recording recording = record_session(test::is_soak() ? 100 : 25);
  ASSERT_GT(recording.operations.size(), 400U);
  std::cout << lose_power_everywhere(recording, torn_states()) << " states of the disk after "
            << recording.operations.size() << " operations\n";
  pretend_file_system(std::nullopt);
}

// The test can fail: without the syncs, losing what was not synced loses trials.
TEST(PowerLoss, IsNoticedWithoutSyncs) {
  Recording recording = record_session(10);
  std::erase_if(recording.operations, [](const LossyDisk::Operation& operation) {
    return operation.kind == LossyDisk::Operation::Kind::sync;
  });
  DiskHistory history;
  for (const LossyDisk::Operation& operation : recording.operations) history.apply(operation);
  const MemoryFolder folder;
  write_files(folder.path(), history.after(Loss::unsynced, 0));
  EXPECT_NE(fault_after(folder / "kiln.db", {0, 10, true}), "");
}

}  // namespace
}  // namespace kiln
