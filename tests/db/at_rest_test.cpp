// A database at rest is one file: no reader, publisher or file system leaves or needs another
// beside it.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/file_system.hpp"
#include "db/merge.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using test::some_session;
using test::some_trial;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::uint32_t kNfs = 0x6969;
constexpr std::uint32_t kExt4 = 0xEF53;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

// Bytes 18 and 19 of an SQLite file: 2 asks readers for a WAL, 1 does not.
int journal_version(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(18);
  return file.get();
}

void write_session(const fs::path& path) {
  Store store(path, Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(1));
}

/// As long as it lives, all paths are on this kind of file system.
struct Pretending {
  explicit Pretending(std::uint32_t type) { pretend_file_system(type); }
  ~Pretending() { pretend_file_system(std::nullopt); }
  Pretending(const Pretending&) = delete;
  Pretending& operator=(const Pretending&) = delete;
};

TEST(AtRest, AWriterLeavesOneFile) {
  const ScratchFolder folder;
  {
    Store store(folder / "kiln.db", Store::Mode::write);
    static_cast<void>(store.begin_session(some_session()));
    EXPECT_THAT(names_in(folder.path()),
                UnorderedElementsAre("kiln.db", "kiln.db-wal", "kiln.db-shm", "kiln.db.writer"));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
  EXPECT_EQ(journal_version(folder / "kiln.db"), 1);
}

TEST(AtRest, AReaderLeavesNothingBeside) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  {
    const Store store(folder / "kiln.db", Store::Mode::read);
    EXPECT_EQ(store.trials(1).size(), 1U);
    EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
}

TEST(AtRest, AReaderCleansUpAfterAKilledWriter) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  {
    // As a killed writer leaves it: its last rows in the WAL only.
    SQLite::Database writer((folder / "kiln.db").string(), SQLite::OPEN_READWRITE);
    writer.exec("PRAGMA journal_mode = WAL");
    writer.exec("UPDATE trials SET message = 'the last word'");
    fs::create_directory(folder / "killed");
    for (const char* name : {"kiln.db", "kiln.db-wal"}) {
      fs::copy(folder / name, folder / "killed" / name);
    }
  }
  const fs::path killed = folder / "killed" / "kiln.db";
  EXPECT_EQ(Store(killed, Store::Mode::read).trials(1).at(0).trial.message, "the last word");
  EXPECT_THAT(names_in(folder / "killed"), ElementsAre("kiln.db"));
}

TEST(AtRest, AReaderChangesNoRow) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  Store reader(folder / "kiln.db", Store::Mode::read);
  EXPECT_THROW(reader.append(1, 2, some_trial(2)), DatabaseError);
  EXPECT_EQ(reader.trials(1).size(), 1U);
}

TEST(AtRest, NetworkFileSystemsNeverGetAWal) {
  const ScratchFolder folder;
  const Pretending nfs(kNfs);
  {
    Store store(folder / "kiln.db", Store::Mode::write);
    const SessionId session = store.begin_session(some_session());
    store.append(session, 1, some_trial(1));
    EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("kiln.db", "kiln.db.writer"));
    EXPECT_EQ(journal_version(folder / "kiln.db"), 1);
    EXPECT_EQ(Store(folder / "kiln.db", Store::Mode::read).trials(session).size(), 1U);
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
}

TEST(AtRest, AWalThatCameToANetworkFileSystemEndsThere) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_session(path);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
  ASSERT_EQ(journal_version(path), 2);
  const Pretending nfs(kNfs);
  EXPECT_EQ(Store(path, Store::Mode::read).trials(1).size(), 1U);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
  { const Store store(path, Store::Mode::write); }
  EXPECT_EQ(journal_version(path), 1);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kiln.db"));
}

TEST(AtRest, KnowsTheFileSystemsOfNetworks) {
  EXPECT_TRUE(is_network_file_system(kNfs));
  EXPECT_TRUE(is_network_file_system(std::uint32_t{0xFE534D42}));  // SMB2
  EXPECT_TRUE(is_network_file_system(std::uint32_t{0x0BD00BD0}));  // Lustre
  EXPECT_FALSE(is_network_file_system(kExt4));
  EXPECT_FALSE(is_network_file_system(fs::path("/proc")));
  EXPECT_FALSE(is_network_file_system(fs::path("/no/such/folder")));
}

std::string error_of_writing(const std::filesystem::path& path) {
  return test::error_of<DatabaseError>([&] { const Store store(path, Store::Mode::write); },
                                       "no error");
}

TEST(AtRest, ASecondWriterIsToldWhoTheFirstIs) {
  const ScratchFolder folder;
  const auto path = folder / "kiln.db";
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  {
    const Store first(path, Store::Mode::write);
    EXPECT_EQ(error_of_writing(path), path.string() + ": is being written by process " +
                                          std::to_string(::getpid()) + " on " + host.data() +
                                          "; wait for it to end, or use another file with --db");
    EXPECT_EQ(Store(path, Store::Mode::read).sessions().size(), 0U);  // readers are welcome
  }
  EXPECT_EQ(error_of_writing(path), "no error");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".writer"));
}

TEST(AtRest, TwoNamesOfOneFileHaveOneWriter) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  fs::create_symlink("kiln.db", folder / "link.db");
  const Store first(folder / "kiln.db", Store::Mode::write);
  EXPECT_THAT(
      test::error_of<DatabaseError>(
          [&] { const Store second(folder / "link.db", Store::Mode::write); }),
      ::testing::StartsWith((folder / "link.db").string() + ": is being written by process "));
}

TEST(AtRest, ALinkStaysOneWhenWhatItLeadsToIsReplaced) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  fs::create_directory(folder / "shared");
  fs::create_symlink("shared/site.db", folder / "site.db");
  fs::create_symlink(folder / "site.db", folder / "link.db");  // links in a row
  const Store source(folder / "kiln.db", Store::Mode::read);
  for (const char* times : {"not there yet", "replaced"}) {
    source.publish(folder / "link.db");
    EXPECT_TRUE(fs::is_symlink(folder / "link.db")) << times;
    EXPECT_TRUE(fs::is_symlink(folder / "site.db")) << times;
    EXPECT_EQ(Store(folder / "shared/site.db", Store::Mode::read).trials(1).size(), 1U) << times;
  }
  static_cast<void>(merge_databases({folder / "kiln.db"}, folder / "link.db"));
  EXPECT_TRUE(fs::is_symlink(folder / "link.db"));
  EXPECT_THAT(names_in(folder / "shared"), UnorderedElementsAre("site.db"));
  EXPECT_EQ(test::error_of<DatabaseError>([&] { source.publish("/dev/null"); }),
            "/dev/null: is no file; publish to a file");
}

TEST(AtRest, PublishingOverADatabaseInUseIsRefused) {
  const ScratchFolder folder;
  write_session(folder / "kiln.db");
  const Store source(folder / "kiln.db", Store::Mode::read);
  {
    const Store other(folder / "other.db", Store::Mode::write);
    EXPECT_THAT(
        test::error_of<DatabaseError>([&] { source.publish(folder / "other.db"); }),
        ::testing::StartsWith((folder / "other.db").string() + ": is being written by process "));
  }
  std::ofstream(folder / "other.db-wal") << "rows";
  EXPECT_EQ(test::error_of<DatabaseError>([&] { source.publish(folder / "other.db"); }),
            (folder / "other.db").string() + ": its writer was stopped in the middle and left " +
                (folder / "other.db-wal").string() + "; `kiln db check` takes that up");
  fs::remove(folder / "other.db-wal");
  source.publish(folder / "other.db");
  EXPECT_EQ(journal_version(folder / "other.db"), 1);
  EXPECT_EQ(Store(folder / "other.db", Store::Mode::read).trials(1).size(), 1U);
  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("kiln.db", "other.db"));
}

}  // namespace
}  // namespace kiln
