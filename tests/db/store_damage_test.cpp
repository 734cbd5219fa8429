// Files that are no database of ours, damaged, newer, missing or out of reach: each has its
// sentence.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
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

// What opening and reading everything says.
std::string error_of_open(const fs::path& path, Store::Mode mode) {
  return test::error_of<DatabaseError>(
      [&] {
        const Store store(path, mode);
        for (const SessionRecord& session : store.sessions()) {
          static_cast<void>(store.trials(session.id));
        }
      },
      "no error");
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void write_database(const fs::path& path, int trials) {
  Store store(path, Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  for (int i = 1; i <= trials; ++i) store.append(session, i, some_trial(i));
}

std::string dump(const fs::path& path) {
  std::string text;
  dump_database(path, [&](const std::string& line) { text += line + "\n"; });
  return text;
}

/// Takes from a file of today what the versions after `version` added.
void make_older(const fs::path& path, int version) {
  SQLite::Database file(path.string(), SQLite::OPEN_READWRITE);
  if (version < 5) file.exec("ALTER TABLE trials DROP COLUMN fields");
  if (version < 4) file.exec("ALTER TABLE sessions DROP COLUMN timing");
  if (version < 3) {
    file.exec("DROP TABLE metrics; DROP TABLE conditions; DROP TABLE objectives; DROP TABLE drift");
  }
  if (version < 2) file.exec("DROP TABLE attempts");
  file.exec("PRAGMA user_version = " + std::to_string(version));
}

// Runs `work` as a user without rights in a process of its own and hands back what it says: root
// passes every permission check.
std::string as_nobody(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
    std::string text;
    try {
      text = work();
    } catch (const std::exception& error) {
      text = error.what();
    }
    ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0
                                                                                            : 1);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

TEST(StoreDamage, AMissingFileSaysHowToMakeOne) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  for (const Store::Mode mode : {Store::Mode::read, Store::Mode::immutable}) {
    EXPECT_EQ(
        error_of_open(path, mode),
        path.string() +
            ": there is no such database; `kiln tune` or `kiln sweep` creates one (--db names it)");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(StoreDamage, AnEmptyFileIsNoDatabaseToReadersAndAFreshOneToTheWriter) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_file(path, "");
  EXPECT_EQ(error_of_open(path, Store::Mode::read),
            path.string() + ": is empty: no session was ever stored in it");
  EXPECT_EQ(error_of_open(path, Store::Mode::write), "no error");
  EXPECT_EQ(error_of_open(path, Store::Mode::read), "no error");
}

TEST(StoreDamage, GarbageIsRefusedAndLeftAsItIs) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_file(path, std::string(10000, 'x'));
  for (const Store::Mode mode : {Store::Mode::write, Store::Mode::read, Store::Mode::immutable}) {
    EXPECT_EQ(
        error_of_open(path, mode),
        path.string() +
            ": is no database, or damaged from its first bytes on; name another file with --db");
  }
  EXPECT_EQ(bytes_of(path), std::string(10000, 'x'));
}

TEST(StoreDamage, ATruncatedFileIsAnErrorNotACrash) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 200);
  const std::string whole = bytes_of(path);
  write_file(path, whole.substr(0, whole.size() / 2 / 4096 * 4096));
  EXPECT_EQ(error_of_open(path, Store::Mode::read),
            path.string() +
                ": is damaged (database disk image is malformed); `sqlite3 FILE .recover` saves "
                "what can be read; name another file with --db");
}

TEST(StoreDamage, FlippedBytesAreFoundByCheck) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 200);
  std::string bytes = bytes_of(path);
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8192; ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  }
  write_file(path, bytes);
  try {
    EXPECT_THAT(Store(path, Store::Mode::read).check(), ::testing::Not(::testing::IsEmpty()));
  } catch (const DatabaseError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(path.string() + ": is damaged"));
  }
}

TEST(StoreDamage, AFileOfAnotherProgramIsRefusedBeforeItIsTouched) {
  const ScratchFolder folder;
  const fs::path path = folder / "browser.db";
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE history (url TEXT)");
  const std::string before = bytes_of(path);
  for (const Store::Mode mode : {Store::Mode::write, Store::Mode::read, Store::Mode::immutable}) {
    EXPECT_EQ(error_of_open(path, mode),
              path.string() + ": is an SQLite file of another program, not a Kiln database");
  }
  EXPECT_EQ(bytes_of(path), before);
}

TEST(StoreDamage, ANewerSchemaAsksForTheNewerKiln) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 1);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 7");
  for (const Store::Mode mode : {Store::Mode::write, Store::Mode::read}) {
    EXPECT_EQ(error_of_open(path, mode), path.string() +
                                             ": has schema version 7, this Kiln knows versions up "
                                             "to 5; use the newer Kiln that wrote it");
  }
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 0");
  EXPECT_EQ(error_of_open(path, Store::Mode::read),
            path.string() + ": has schema version 0, expected 1 or later");
}

TEST(StoreDamage, AFileOfVersionOneIsReadAsItIsAndBroughtUpByTheNextWriter) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 3);
  make_older(path, 1);
  const std::string before = bytes_of(path);
  {
    const Store reader(path, Store::Mode::read);
    EXPECT_EQ(reader.info().schema_version, 1);
    EXPECT_EQ(reader.trials(1).size(), 3U);
    EXPECT_TRUE(reader.drift(1).empty());
    EXPECT_TRUE(reader.attempts(1).empty());
    EXPECT_TRUE(reader.bests("", "energy").empty());
    EXPECT_TRUE(reader.check().empty());
    EXPECT_EQ(reader.sessions().at(0).key.timing, Timing::eager);
  }
  EXPECT_EQ(bytes_of(path), before);
  Store writer(path, Store::Mode::write);
  EXPECT_EQ(writer.info().schema_version, 5);
  EXPECT_EQ(writer.sessions().at(0).key.timing, Timing::eager);
  EXPECT_EQ(writer.trials(1).size(), 3U);
  writer.begin_attempt(1, "tile:block=64");
  writer.begin_attempt(1, "tile:block=64");
  writer.note_death(1, "tile:block=64");
  EXPECT_EQ(writer.attempts(1), (std::vector<AttemptRecord>{{"tile:block=64", 2, 1}}));
}

TEST(StoreDamage, OlderFilesAnswerAndMergeAsFilesOfToday) {
  for (int version = 1; version < 5; ++version) {
    SCOPED_TRACE(version);
    const ScratchFolder folder;
    const fs::path path = folder / "kiln.db";
    {
      Store store(path, Store::Mode::write);
      const SessionId session = store.begin_session(some_session());
      store.append(session, 1, some_trial(64));
      store.finish(session, SessionState::finished, 1, test::some_best(64));
    }
    const std::string today = dump(path);
    make_older(path, version);
    EXPECT_EQ(dump(path), today) << "the same sessions, so that a merge takes each once";
    Store(path, Store::Mode::read).publish(folder / "published.db");
    for (const auto& [file, mode] : {std::pair(path, Store::Mode::read),
                                     std::pair(folder / "published.db", Store::Mode::immutable)}) {
      const Store reader(file, mode);
      EXPECT_EQ(reader.info().schema_version, version);
      ASSERT_EQ(reader.bests("scale").size(), 1U);
      EXPECT_EQ(reader.bests("scale").front().key, some_session().key);
      EXPECT_EQ(reader.bests("scale").front().config, test::some_best(64).config);
      EXPECT_EQ(reader.best_of(1)->key.timing, Timing::eager);
    }
    merge_databases({path}, folder / "merged.db");
    EXPECT_EQ(dump(folder / "merged.db"), today);
  }
}

// Files as the statements of each earlier Kiln made them, and never changed since.
TEST(StoreDamage, AFileOfEachEarlierFormatIsReadForEver) {
  for (int version = 1; version < 5; ++version) {
    SCOPED_TRACE(version);
    const ScratchFolder folder;
    const fs::path path = folder / "kiln.db";
    fs::copy_file(fs::path(KILN_SOURCE_DIR) / "tests/db/formats" /
                      ("format_" + std::to_string(version) + ".db"),
                  path);
    for (const Store::Mode mode : {Store::Mode::read, Store::Mode::write, Store::Mode::read}) {
      const Store store(path, mode);
      EXPECT_TRUE(store.check().empty());
      ASSERT_EQ(store.sessions().size(), 1U);
      EXPECT_EQ(store.sessions().front().state, SessionState::finished);
      EXPECT_EQ(store.trials(store.sessions().front().id).size(), 3U);
      ASSERT_EQ(store.bests("twice").size(), 1U);
      EXPECT_EQ(store.bests("twice").front().config.text(), "plain:block_size=256,items=1");
    }
    merge_databases({path}, folder / "merged.db");
    EXPECT_EQ(Store(folder / "merged.db", Store::Mode::read).bests("twice").size(), 1U);
  }
}

TEST(StoreDamage, RowsThatNobodyCanReadAreNamed) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 1);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE trials SET config_json = '{'");
  EXPECT_THAT(error_of_open(path, Store::Mode::read),
              ::testing::StartsWith(path.string() + ": a row holds malformed JSON: "));
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE trials SET config_json = '{}'");
  EXPECT_THAT(error_of_open(path, Store::Mode::read),
              ::testing::StartsWith(path.string() + ": a row "));
}

std::string trials_of_first(const fs::path& path) {
  return std::to_string(Store(path, Store::Mode::read).trials(1).size());
}

void make_read_only(const fs::path& folder, const fs::path& file) {
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                              fs::perms::others_exec);
  fs::permissions(file, fs::perms::owner_read | fs::perms::others_read);
}

TEST(StoreDamage, FieldsThatAreNoJsonAreNamed) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 1);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE trials SET fields = '{'");
  EXPECT_THAT(error_of_open(path, Store::Mode::read),
              ::testing::StartsWith(path.string() + ": a row holds malformed JSON: "));
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE trials SET fields = '[]'");
  EXPECT_EQ(error_of_open(path, Store::Mode::read), "no error") << "it names no field";
}

TEST(StoreDamage, AReadOnlyFolderIsReadButNotWritten) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 3);
  make_read_only(folder.path(), path);
  EXPECT_EQ(as_nobody([&] { return error_of_open(path, Store::Mode::write); }),
            path.string() + ": cannot create the writer's lock " + path.string() +
                ".writer: Permission denied");
  EXPECT_EQ(as_nobody([&] { return trials_of_first(path); }), "3");
  EXPECT_EQ(as_nobody([&] {
              return error_of_open(path.parent_path() / "new" / "kiln.db", Store::Mode::write);
            }),
            (path.parent_path() / "new" / "kiln.db").string() +
                ": cannot create its folder: Permission denied");
}

TEST(StoreDamage, AnOlderFileInAReadOnlyFolderIsRead) {
  const ScratchFolder folder;
  const fs::path path = folder / "kiln.db";
  write_database(path, 3);
  make_older(path, 1);
  make_read_only(folder.path(), path);
  EXPECT_EQ(as_nobody([&] { return trials_of_first(path); }), "3");
}

TEST(StoreDamage, AFolderIsNoDatabase) {
  const ScratchFolder folder;
  fs::create_directory(folder / "kiln.db");
  EXPECT_THAT(error_of_open(folder / "kiln.db", Store::Mode::read),
              ::testing::StartsWith((folder / "kiln.db").string() + ": "));
}

}  // namespace
}  // namespace kiln
