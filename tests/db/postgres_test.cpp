// What only a server has: many writers, roles, connections that end; a sentence for each mistake.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/transient_error.hpp"
#include "db/connection.hpp"
#include "db/merge.hpp"
#include "db/server/postgres_database.hpp"
#include "db/server/server_merge.hpp"
#include "tests/db/store_places.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::PostgresServer;
using test::some_best;
using test::some_session;
using test::some_trial;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_database);
    EXPECT_THAT(error.what(), Not(HasSubstr(std::string(1, '\n')))) << "one line";
    return error.what();
  }
  return "no error";
}

class Postgres : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PostgresServer::missing().empty()) return;
    KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
  }
};

TEST_F(Postgres, HasTheTablesOfAnSqliteFile) {
  const test::ScratchFolder folder;
  const std::string url = PostgresServer::shared().new_database();
  { const Store file(folder / "kiln.db", Store::Mode::write); }
  { const Store server(url, Store::Mode::write); }
  std::map<std::string, std::string> columns;
  SQLite::Database file((folder / "kiln.db").string());
  SQLite::Statement query(file,
                          "SELECT m.name, group_concat(p.name || ' ' || p.type || ' ' || "
                          "(p.\"notnull\" OR p.pk > 0), ',') FROM sqlite_schema AS m JOIN "
                          "pragma_table_info(m.name) AS p WHERE m.type = 'table' GROUP BY m.name");
  while (query.executeStep())
    columns[query.getColumn(0).getString()] = query.getColumn(1).getString();
  PostgresDatabase database(url, PostgresDatabase::Rights::read);
  sql::Statement there(
      database,
      "SELECT table_name, string_agg(column_name || ' ' || CASE data_type WHEN 'bigint' THEN "
      "'INTEGER' WHEN 'text' THEN 'TEXT' WHEN 'bytea' THEN 'BLOB' ELSE 'REAL' END || ' ' || CASE "
      "is_nullable WHEN 'NO' THEN '1' ELSE '0' END, ',' ORDER BY ordinal_position) FROM "
      "information_schema.columns WHERE table_schema = 'kiln' AND table_name <> 'schema_version' "
      "GROUP BY table_name");
  std::map<std::string, std::string> found;
  while (there.step()) found[there.text(0)] = there.text(1);
  EXPECT_EQ(found, columns);
  EXPECT_EQ(database.schema_version(),
            Store(folder / "kiln.db", Store::Mode::read).info().schema_version);
}

TEST_F(Postgres, TwoProgramsWriteButNotTheSameSession) {
  const std::string url = PostgresServer::shared().new_database();
  Store first(url, Store::Mode::write);
  Store second(url, Store::Mode::write);
  const SessionId session = first.begin_session(some_session());
  first.append(session, 1, some_trial(64));
  const SessionId other = second.begin_session(some_session("n=2"));
  second.append(other, 1, some_trial(64));
  const std::string refused = url +
                              ": session 1 is being written by another Kiln; wait for it to end, "
                              "or begin another one with --fresh";
  EXPECT_EQ(message_of([&] { (void)second.find_unfinished(some_session().key); }), refused);
  EXPECT_EQ(message_of([&] { second.append(session, 2, some_trial(128)); }), refused);
  first.finish(session, SessionState::interrupted, 1, std::nullopt);
  EXPECT_EQ(second.find_unfinished(some_session().key)->id, session);
}

TEST_F(Postgres, AReaderWritesNothing) {
  const std::string url = PostgresServer::shared().new_database();
  { const Store writer(url, Store::Mode::write); }
  Store reader(url, Store::Mode::read);
  EXPECT_EQ(message_of([&] { (void)reader.begin_session(some_session()); }),
            url + ": cannot be written (cannot execute INSERT in a read-only transaction)");
}

TEST_F(Postgres, AnEmptyDatabaseSaysWhatMakesTheTables) {
  const std::string url = PostgresServer::shared().new_database();
  EXPECT_EQ(message_of([&] { const Store store(url, Store::Mode::read); }),
            url +
                ": holds no tables of Kiln; `kiln fleet init`, `kiln tune` or `kiln sweep` creates "
                "them");
}

TEST_F(Postgres, AnotherSchemaVersionIsRefused) {
  PostgresServer& server = PostgresServer::shared();
  const std::string url = server.new_database();
  { const Store store(url, Store::Mode::write); }
  const std::string name = PostgresServer::database_of(url);
  server.run(name, "UPDATE kiln.schema_version SET version = 9");
  for (const Store::Mode mode : {Store::Mode::read, Store::Mode::write}) {
    EXPECT_EQ(message_of([&] { const Store store(url, mode); }),
              url +
                  ": has schema version 9, this Kiln knows versions up to 5; use the newer Kiln "
                  "that wrote it");
  }
}

std::string dump(const std::string& url) {
  std::string text;
  dump_database(url, [&](const std::string& line) { text += line + "\n"; });
  return text;
}

/// Takes from a server of today what the versions after `version` added.
void make_older(const std::string& name, int version) {
  PostgresServer& server = PostgresServer::shared();
  if (version < 5) server.run(name, "ALTER TABLE kiln.trials DROP COLUMN fields");
  if (version < 4) server.run(name, "ALTER TABLE kiln.sessions DROP COLUMN timing");
  server.run(name, "UPDATE kiln.schema_version SET version = " + std::to_string(version));
}

TEST_F(Postgres, AnOlderServerIsReadAsItIsAndBroughtUpByTheNextWriter) {
  for (const int version : {3, 4}) {
    SCOPED_TRACE(version);
    const std::string url = PostgresServer::shared().new_database();
    {
      Store store(url, Store::Mode::write);
      const SessionId session = store.begin_session(some_session());
      store.append(session, 1, some_trial(64));
      store.finish(session, SessionState::finished, 1, some_best(64));
    }
    const std::string today = dump(url);
    make_older(PostgresServer::database_of(url), version);
    {
      const Store reader(url, Store::Mode::read);
      EXPECT_EQ(reader.info().schema_version, version);
      EXPECT_EQ(reader.sessions().at(0).key, some_session().key);
      EXPECT_EQ(reader.trials(1).size(), 1U);
      EXPECT_EQ(reader.bests("scale").at(0).key, some_session().key);
    }
    EXPECT_EQ(dump(url), today);
    const Store writer(url, Store::Mode::write);
    EXPECT_EQ(writer.info().schema_version, 5);
    EXPECT_EQ(writer.sessions().at(0).key, some_session().key);
    EXPECT_EQ(dump(url), today);
  }
}

TEST_F(Postgres, AnOlderServerThatRefusesTemporaryViewsSaysSo) {
  PostgresServer& server = PostgresServer::shared();
  const std::string url = server.new_database();
  { const Store store(url, Store::Mode::write); }
  const std::string name = PostgresServer::database_of(url);
  make_older(name, 3);
  server.run("postgres", "REVOKE TEMPORARY ON DATABASE " + name + " FROM PUBLIC");
  server.run("postgres", "CREATE ROLE looker LOGIN");
  server.run(name,
             "GRANT USAGE ON SCHEMA kiln TO looker; GRANT SELECT ON ALL TABLES IN SCHEMA kiln TO "
             "looker");
  const std::string as_looker = server.url(name, "looker");
  EXPECT_THAT(message_of([&] { const Store store(as_looker, Store::Mode::read); }),
              AllOf(StartsWith(as_looker +
                               ": has schema version 3, which this Kiln reads through temporary "
                               "views, but the server refuses them (this role has no permission ("),
                    HasSubstr("; the next command that writes migrates it")));
}

TEST_F(Postgres, ARoleWithoutRightsIsTold) {
  PostgresServer& server = PostgresServer::shared();
  const std::string url = server.new_database();
  { const Store store(url, Store::Mode::write); }
  const std::string name = PostgresServer::database_of(url);
  server.run("postgres", "CREATE ROLE stranger LOGIN");
  const std::string as_stranger = server.url(name, "stranger");
  EXPECT_EQ(
      message_of([&] { const Store store(as_stranger, Store::Mode::read); }),
      as_stranger +
          ": this role has no permission (permission denied for schema kiln); use another role, "
          "or let the owner run `kiln fleet init` and GRANT kiln_work or kiln_submit to it");
  const std::string empty = server.url("postgres", "stranger");
  EXPECT_THAT(message_of([&] { const Store store(empty, Store::Mode::write); }),
              HasSubstr(": this role has no permission (permission denied for database postgres)"));
}

TEST_F(Postgres, EachWayNotToConnectHasItsSentence) {
  const PostgresServer& server = PostgresServer::shared();
  const auto opening = [](const std::string& url) {
    return message_of([&] { const Store store(url, Store::Mode::read); });
  };
  const std::string missing = server.url("nothing");
  EXPECT_THAT(opening(missing),
              AllOf(StartsWith(missing + ": the server does not have this database or role ("),
                    HasSubstr("database \"nothing\" does not exist"),
                    HasSubstr("); create it, or name another one with --db")));
  EXPECT_THAT(opening("postgresql://me@nowhere.invalid/kiln"),
              AllOf(StartsWith("postgresql://me@nowhere.invalid/kiln: its host is unknown ("),
                    HasSubstr("\"nowhere.invalid\"")));
  EXPECT_THAT(opening("postgresql:///kiln?host=/nowhere"),
              AllOf(StartsWith("postgresql:///kiln?host=/nowhere: the server cannot be reached ("),
                    HasSubstr("No such file or directory")));
  EXPECT_THAT(opening("postgresql:///kiln?nonsense=1"), HasSubstr("nonsense"));
}

TEST_F(Postgres, AWrongPasswordIsToldAndNeverShown) {
  PostgresServer strict;
  strict.run("postgres", "CREATE ROLE worker LOGIN PASSWORD 'right'");
  std::ofstream(strict.folder() / "data/pg_hba.conf")
      << "local all kiln_owner trust\nlocal all all scram-sha-256\n";
  strict.run("postgres", "SELECT pg_reload_conf()");
  const std::string url = strict.url("postgres", "worker");
  ::setenv("PGPASSWORD", "geheim", 1);
  std::string said;
  for (int i = 0; i < 100 && said.find("password") == std::string::npos; ++i) {
    said = message_of([&] { const Store store(url, Store::Mode::read); });
    ::usleep(20'000);
  }
  EXPECT_THAT(said, AllOf(StartsWith(url + ": the server refused the password ("),
                          HasSubstr("); put the right one into ~/.pgpass, a service file or "
                                    "PGPASSWORD")));
  EXPECT_THAT(said, Not(HasSubstr("geheim")));
  ::setenv("PGPASSWORD", "right", 1);
  EXPECT_THAT(message_of([&] { const Store store(url, Store::Mode::read); }),
              HasSubstr("holds no tables of Kiln"));
  ::unsetenv("PGPASSWORD");
  EXPECT_THAT(message_of([&] { const Store store(url, Store::Mode::read); }),
              HasSubstr("the server refused the password ("))
      << "none at all";
}

TEST_F(Postgres, AWriterWhoseConnectionWasLostWritesNothingToASessionThatAnotherOneHas) {
  const PostgresServer& server = PostgresServer::shared();
  const std::string url = PostgresServer::shared().new_database();
  Store first(url, Store::Mode::write);
  const SessionRecord record = some_session("n=1");
  const SessionId session = first.begin_session(record);
  first.append(session, 1, some_trial(1));
  server.run(PostgresServer::database_of(url),
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
             "current_database() AND pid <> pg_backend_pid()");
  Store second(url, Store::Mode::write);
  ASSERT_TRUE(second.find_unfinished(record.key));
  second.append(session, 2, some_trial(2));
  (void)message_of([&] { first.append(session, 2, some_trial(3)); });  // notices the loss
  const std::function<void()> writes[] = {
      [&] { first.append(session, 2, some_trial(3)); }, [&] { first.begin_attempt(session, "x"); },
      [&] { first.note_death(session, "x"); }, [&] { first.add_wall_seconds(session, 1); },
      [&] { first.finish(session, SessionState::finished, 1, some_best(1)); }};
  for (const auto& write : writes) {
    EXPECT_EQ(message_of([&] {
                try {
                  write();
                } catch (const TransientError& error) {
                  FAIL() << "waits for a lock that will not be free: " << error.what();
                }
              }),
              url +
                  ": session 1 is being written by another Kiln; wait for it to end, or begin "
                  "another one with --fresh");
  }
  second.append(session, 3, some_trial(4));
  EXPECT_EQ(second.session(session)->state, SessionState::running);
}

TEST_F(Postgres, AMergeKeepsItsSessionsUntilItsCommit) {
  const test::ScratchFolder folder;
  const std::string url = PostgresServer::shared().new_database();
  const SessionRecord record = some_session("n=1");
  {
    Store server(url, Store::Mode::write);
    Store file(folder / "more.db", Store::Mode::write);
    for (Store* store : {&server, &file}) {
      const SessionId session = store->begin_session(record);
      for (int i = 1; i <= (store == &file ? 3 : 1); ++i) store->append(session, i, some_trial(i));
    }
  }
  const ServerConnection merge(url, Store::Mode::write);
  sql::Transaction transaction(merge.database(), sql::Access::write);
  std::vector<std::unique_ptr<MergedSource>> sources;
  sources.push_back(open_source(folder / "more.db"));
  MergeReport report;
  merge_sessions(choose_copies(sources, report), merge.database(), report);
  Store resumer(url, Store::Mode::write);
  EXPECT_THAT(message_of([&] { (void)resumer.find_unfinished(record.key); }),
              HasSubstr("is being written by another Kiln"));
  transaction.commit();
  const auto resumed = resumer.find_unfinished(record.key);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumer.trials(resumed->id).size(), 3U);
  resumer.append(resumed->id, 4, some_trial(4));
}

TEST_F(Postgres, AServerThatGoesAwayLosesNothingAndIsFoundAgain) {
  PostgresServer server;
  const std::string url = server.new_database();
  Store store(url, Store::Mode::write);
  const SessionId session = store.begin_session(some_session());
  store.append(session, 1, some_trial(64));
  server.stop();
  EXPECT_THAT(test::error_of<TransientError>([&] { store.append(session, 2, some_trial(128)); }),
              AllOf(StartsWith(url + ": the connection to the server was lost ("),
                    HasSubstr("); what was stored before is kept; run the same command again "
                              "when the server is back")));
  EXPECT_THAT(message_of([&] { store.append(session, 2, some_trial(128)); }),
              HasSubstr(": the server cannot be reached ("));
  server.start();
  store.append(session, 2, some_trial(128));
  EXPECT_EQ(store.trials(session).size(), 2U);
  EXPECT_EQ(message_of([&] { store.append(session, 2, some_trial(256)); }),
            url +
                ": duplicate key value violates unique constraint "
                "\"trials_session_sequence_key\"");
}

}  // namespace
}  // namespace kiln
