// Jobs and leases on a real server: one worker a job, the server's clock, first results count.
// SPDX-License-Identifier: Apache-2.0
#include "db/fleet.hpp"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/db/store_places.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::PostgresServer;
using test::some_best;
using test::some_session;
using test::some_trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FleetOffer kOffer = {{"scale aa"}, {"", "cuda", "cuda/nvidia"}};
const FleetWorker kFirst = {"host:1", "cuda:0", "host:/out"};
const FleetWorker kSecond = {"other:2", "cuda:1", "other:/out"};

std::string fleet_message(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_database);
    return error.what();
  }
  return "no error";
}

class PostgresFleet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty())
      KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
    url_ = PostgresServer::shared().new_database();
    Fleet::init(url_);
  }

  static FleetJob job(const std::string& problem, double weight = 1) {
    return {"scale", "aa", problem, "", "{}", weight};
  }

  /// A file as a worker leaves it: a session with `trials` trials, finished or not.
  [[nodiscard]] std::filesystem::path outbox(const std::string& name, const std::string& problem,
                                             int trials, SessionState state) const {
    const std::filesystem::path file = folder_ / name.c_str();
    Store store(file, Store::Mode::write);
    const SessionId session = store.begin_session(some_session(problem));
    for (int i = 1; i <= trials; ++i) store.append(session, i, some_trial(i));
    store.finish(session, state, 1,
                 state == SessionState::finished ? std::optional(some_best(1)) : std::nullopt);
    return file;
  }

  [[nodiscard]] std::vector<std::string> log(std::int64_t job) const {
    // By the product's own reader of states; the log itself is read as the owner would.
    std::vector<std::string> events;
    const std::string name = PostgresServer::database_of(url_);
    const std::filesystem::path file = folder_ / "log.txt";
    PostgresServer::shared().run(
        name, "COPY (SELECT event FROM kiln.lease_log WHERE job = " + std::to_string(job) +
                  " ORDER BY id) TO '" + (PostgresServer::shared().folder() / "log.txt").string() +
                  "'");
    std::ifstream stream(PostgresServer::shared().folder() / "log.txt");
    for (std::string line; std::getline(stream, line);) events.push_back(line);
    return events;
  }

  test::ScratchFolder folder_;
  std::string url_;
};

TEST_F(PostgresFleet, LeasesTheHeaviestJobOnce) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1"), job("n=2", 5)}, 3);
  const auto heavy = fleet.lease(kFirst, kOffer, 60);
  ASSERT_TRUE(heavy);
  EXPECT_EQ(heavy->work.problem, "n=2");
  EXPECT_EQ(heavy->epoch, 1);
  EXPECT_EQ(fleet.lease(kSecond, kOffer, 60)->work.problem, "n=1");
  EXPECT_FALSE(fleet.lease(kFirst, kOffer, 60));
  EXPECT_TRUE(fleet.has_work(kOffer)) << "a leased job may come back";
  const std::vector<FleetJobState> jobs = fleet.jobs(0);
  EXPECT_EQ(jobs[1].worker, "host:1");
  EXPECT_EQ(jobs[1].place, "cuda:0");
  EXPECT_GT(jobs[1].lease_left, 50);
}

TEST_F(PostgresFleet, ManyWorkersAtOnceNeverShareAJob) {
  std::vector<FleetJob> jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(job("n=" + std::to_string(i)));
  Fleet(url_).submit("plan", jobs, 3);
  std::vector<std::set<std::int64_t>> taken(8);
  std::vector<std::thread> threads;
  for (std::set<std::int64_t>& mine : taken) {
    threads.emplace_back([&] {
      Fleet fleet(url_);
      while (const auto lease = fleet.lease(kFirst, kOffer, 60)) mine.insert(lease->job);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::int64_t> all;
  std::size_t count = 0;
  for (const std::set<std::int64_t>& mine : taken) {
    count += mine.size();
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(count, 60U);
  EXPECT_EQ(all.size(), 60U);
}

TEST_F(PostgresFleet, AWorkerTakesOnlyWhatItMayAndCanRun) {
  Fleet fleet(url_);
  FleetJob stranger = job("n=1");
  stranger.spec_hash = "bb";
  FleetJob elsewhere = job("n=2");
  elsewhere.device = "hip/amd";
  FleetJob here = job("n=3");
  here.device = "cuda/nvidia";
  fleet.submit("plan", {stranger, elsewhere, here}, 3);
  EXPECT_EQ(fleet.lease(kFirst, kOffer, 60)->work.problem, "n=3");
  EXPECT_FALSE(fleet.lease(kFirst, kOffer, 60));
}

TEST_F(PostgresFleet, ALeaseThatEndsReturnsTheJobAndTheThirdSetsItAside) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(fleet.lease(kFirst, kOffer, 0.01)) << i;
    ::usleep(30'000);
  }
  EXPECT_FALSE(fleet.lease(kSecond, kOffer, 60));
  const FleetJobState state = fleet.jobs(0).at(0);
  EXPECT_EQ(state.state, "aside");
  EXPECT_EQ(state.reason, "its lease ended 3 times without its worker, the last time with host:1");
  EXPECT_THAT(log(state.job),
              ElementsAre("leased", "ended", "leased", "ended", "leased", "set aside"));
  EXPECT_EQ(fleet.retry(0), 1);
  EXPECT_TRUE(fleet.lease(kSecond, kOffer, 60));
}

TEST_F(PostgresFleet, AWorkerThatWasCutOffTakesItsJobBack) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  FleetLease lease = *fleet.lease(kFirst, kOffer, 0.01);
  ::usleep(30'000);
  EXPECT_EQ(fleet.renew(lease, kFirst, 2, 60), LeaseState::held) << "nobody noticed";
  lease = {};
  lease.job = 1;
  lease.epoch = 1;
  EXPECT_EQ(fleet.renew(lease, kFirst, 2, 0.01), LeaseState::held);
  ::usleep(30'000);
  fleet.bury(lease);  // returns what ended
  EXPECT_EQ(fleet.state_of(1), "waiting");
  EXPECT_EQ(fleet.renew(lease, kFirst, 3, 60), LeaseState::taken_back);
  EXPECT_EQ(lease.epoch, 2);
  EXPECT_EQ(fleet.jobs(0).at(0).deaths, 0);
  FleetLease old = lease;
  old.epoch = 1;
  EXPECT_EQ(fleet.renew(old, kSecond, 3, 60), LeaseState::lost);
}

TEST_F(PostgresFleet, TheFirstResultCountsAndIsStoredOnce) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  const FleetLease lease = *fleet.lease(kFirst, kOffer, 60);
  const auto file = outbox("a.db", "n=1", 3, SessionState::finished);
  EXPECT_TRUE(fleet.finish(lease.job, kFirst, file, R"({"time_ns":1})"));
  EXPECT_FALSE(fleet.finish(lease.job, kFirst, file, "{}")) << "delivered again";
  EXPECT_FALSE(
      fleet.finish(lease.job, kSecond, outbox("b.db", "n=1", 5, SessionState::finished), "{}"));
  const Store store(url_, Store::Mode::read);
  EXPECT_EQ(store.sessions().size(), 1U);
  EXPECT_EQ(store.bests().size(), 1U);
  EXPECT_EQ(fleet.jobs(0).at(0).result, R"({"time_ns":1})");
  EXPECT_THAT(log(lease.job), ElementsAre("leased", "done", "late", "late"));
}

TEST_F(PostgresFleet, AReturnedLeaseStoresTheTrialsAndTheJobGoesOn) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  const FleetLease lease = *fleet.lease(kFirst, kOffer, 60);
  const auto file = outbox("a.db", "n=1", 2, SessionState::interrupted);
  fleet.give_back(lease, kFirst, file, "the worker was stopped");
  EXPECT_EQ(fleet.jobs(0).at(0).state, "waiting");
  EXPECT_EQ(fleet.jobs(0).at(0).deaths, 0);
  EXPECT_EQ(Store(url_, Store::Mode::read).trials(1).size(), 2U);
  EXPECT_TRUE(fleet.lease(kSecond, kOffer, 60));
}

TEST_F(PostgresFleet, ACancelledJobLosesItsLease) {
  Fleet fleet(url_);
  const std::int64_t plan = fleet.submit("plan", {job("n=1"), job("n=2")}, 3);
  fleet.submit("other", {job("n=3")}, 3);
  FleetLease lease = *fleet.lease(kFirst, kOffer, 60);
  EXPECT_EQ(fleet.cancel(plan), 2);
  EXPECT_EQ(fleet.renew(lease, kFirst, 1, 60), LeaseState::lost);
  EXPECT_EQ(fleet.lease(kFirst, kOffer, 60)->work.problem, "n=3");
}

TEST_F(PostgresFleet, AWorkerWhoseLeaseEndedDoesNotFailTheJobOfTheNextOne) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  const FleetLease stale = *fleet.lease(kFirst, kOffer, 0.01);
  ::usleep(30'000);
  FleetLease live = *fleet.lease(kSecond, kOffer, 60);
  ASSERT_EQ(live.job, stale.job);
  fleet.fail(stale, kFirst, outbox("a.db", "n=1", 2, SessionState::interrupted), "no device here");
  EXPECT_EQ(fleet.state_of(live.job), "leased");
  EXPECT_EQ(Store(url_, Store::Mode::read).trials(1).size(), 2U) << "its trials are kept";
  fleet.bury(stale);
  EXPECT_EQ(fleet.renew(live, kSecond, 1, 60), LeaseState::held);
  fleet.fail(live, kSecond, {}, "no config was valid");
  EXPECT_EQ(fleet.state_of(live.job), "failed");
  EXPECT_THAT(log(live.job), ElementsAre("leased", "ended", "leased", "late", "failed"));
}

TEST_F(PostgresFleet, APlanThatIsNotThereIsAnError) {
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1")}, 3);
  EXPECT_THROW(fleet.cancel(9), InputError);
  EXPECT_THROW(fleet.retry(9), InputError);
  EXPECT_EQ(test::error_of<InputError>([&] { return fleet.jobs(9); }),
            "the fleet has no plan 9; `kiln fleet submit` prints the number of a plan");
}

TEST_F(PostgresFleet, RolesHaveTheRightsThatTheyNeedAndNoMore) {
  PostgresServer& server = PostgresServer::shared();
  const std::string name = PostgresServer::database_of(url_);
  server.run("postgres",
             "DROP ROLE IF EXISTS sam; DROP ROLE IF EXISTS wes; CREATE ROLE sam LOGIN; CREATE ROLE "
             "wes LOGIN; GRANT kiln_submit TO sam; GRANT kiln_work TO wes");
  Fleet submitter(server.url(name, "sam"));
  Fleet worker(server.url(name, "wes"));
  submitter.submit("plan", {job("n=1"), job("n=2")}, 3);
  EXPECT_THAT(fleet_message([&] { (void)submitter.lease(kFirst, kOffer, 60); }),
              HasSubstr("this role has no permission (permission denied for table jobs)"));
  EXPECT_THAT(fleet_message([&] { worker.submit("plan", {job("n=3")}, 3); }),
              HasSubstr("this role has no permission (permission denied for table plans)"));
  FleetLease lease = *worker.lease(kFirst, kOffer, 60);
  EXPECT_EQ(worker.renew(lease, kFirst, 1, 60), LeaseState::held);
  worker.give_back(lease, kFirst, outbox("a.db", lease.work.problem, 2, SessionState::interrupted),
                   "");
  lease = *worker.lease(kFirst, kOffer, 60);
  EXPECT_TRUE(worker.finish(lease.job, kFirst,
                            outbox("b.db", lease.work.problem, 4, SessionState::finished), "{}"));
  const std::string denied =
      "this role has no permission (permission denied to cancel or retry a job)";
  EXPECT_THAT(fleet_message([&] { worker.cancel(0); }), HasSubstr(denied));
  EXPECT_EQ(submitter.cancel(0), 1);
  EXPECT_THAT(fleet_message([&] { worker.retry(0); }), HasSubstr(denied));
  EXPECT_EQ(submitter.retry(0), 1);
  EXPECT_EQ(submitter.jobs(0).size(), 2U);
  EXPECT_EQ(Store(server.url(name, "sam"), Store::Mode::read).bests().size(), 1U);
  EXPECT_THROW(server.run(name, "SET ROLE kiln_work; DELETE FROM kiln.sessions"),
               std::runtime_error);
  EXPECT_THROW(server.run(name, "SET ROLE kiln_work; UPDATE kiln.jobs SET problem = 'x'"),
               std::runtime_error);
  EXPECT_THROW(server.run(name, "SET ROLE kiln_submit; UPDATE kiln.jobs SET result = 'x'"),
               std::runtime_error);
  EXPECT_THROW(server.run(name, "SET ROLE kiln_submit; INSERT INTO kiln.best DEFAULT VALUES"),
               std::runtime_error);
}

TEST_F(PostgresFleet, EachRoleDoesByPlainSqlWhatItMayAndNothingElse) {
  PostgresServer& server = PostgresServer::shared();
  const std::string name = PostgresServer::database_of(url_);
  Fleet(url_).submit("plan", {job("n=1"), job("n=2"), job("n=3")}, 3);
  const auto denied = [&](const std::string& role, const std::string& statement) {
    EXPECT_THROW(server.run(name, "SET search_path = kiln; SET ROLE " + role + "; " + statement),
                 std::runtime_error)
        << role << ": " << statement;
  };
  const auto allowed = [&](const std::string& role, const std::string& statement) {
    EXPECT_NO_THROW(server.run(name, "SET search_path = kiln; SET ROLE " + role + "; " + statement))
        << role << ": " << statement;
  };
  const std::string insert =
      "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) VALUES "
      "(1, 'k', 'h', 'n=1', '', '{}', ";
  allowed("kiln_submit", insert + "1, 3)");
  denied("kiln_submit", insert + "'NaN', 3)");
  denied("kiln_submit", insert + "'Infinity', 3)");
  denied("kiln_submit", insert + "1, 9223372036854775807)");
  denied("kiln_submit",
         "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) "
         "VALUES (1, 'k', 'h', 'n=1', '', repeat('x', 70000), 1, 3)");
  denied("kiln_submit",
         "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives, "
         "state) VALUES (1, 'k', 'h', 'n', '', '{}', 1, 3, 'done')");
  denied("kiln_submit", "INSERT INTO plans (name) VALUES (repeat('x', 1000))");
  denied("kiln_submit", "UPDATE jobs SET state = 'leased' WHERE id = 1");
  denied("kiln_submit", "UPDATE jobs SET state = 'done' WHERE id = 1");
  denied("kiln_submit", "UPDATE jobs SET state = 'failed' WHERE id = 1");
  denied("kiln_submit", "UPDATE jobs SET deaths = 9223372036854775807 WHERE id = 1");
  denied("kiln_submit", "UPDATE jobs SET reason = 'x' WHERE id = 1");
  denied("kiln_submit",
         "INSERT INTO lease_log (job, epoch, worker, event) VALUES (1, 1, 'x', 'done')");
  allowed("kiln_submit", "UPDATE jobs SET state = 'cancelled', finished_at = now() WHERE id = 1");
  denied("kiln_work", "UPDATE jobs SET state = 'waiting' WHERE id = 1");
  denied("kiln_work", "UPDATE jobs SET state = 'leased' WHERE id = 1");
  allowed("kiln_submit", "UPDATE jobs SET state = 'waiting', deaths = 0 WHERE id = 1");
  allowed("kiln_work",
          "UPDATE jobs SET state = 'leased', epoch = epoch + 1, lease_until = now() + interval '1 "
          "hour' WHERE id = 1");
  denied("kiln_work", "UPDATE jobs SET lease_until = 'infinity' WHERE id = 1");
  denied("kiln_work", "UPDATE jobs SET epoch = 9223372036854775807 WHERE id = 1");
  denied("kiln_work", "UPDATE jobs SET state = 'cancelled' WHERE id = 1");
  denied("kiln_work", insert + "1, 3)");
  allowed("kiln_work", "UPDATE jobs SET state = 'done' WHERE id = 1");
  for (const char* state : {"waiting", "leased", "failed", "cancelled", "done"}) {
    denied("kiln_work", std::string("UPDATE jobs SET state = '") + state + "' WHERE id = 1");
    denied("kiln_submit", std::string("UPDATE jobs SET state = '") + state + "' WHERE id = 1");
  }
}

TEST_F(PostgresFleet, ARowThatIsOutOfRangeIsSkippedAndNamed) {
  const PostgresServer& server = PostgresServer::shared();
  const std::string name = PostgresServer::database_of(url_);
  Fleet fleet(url_);
  fleet.submit("plan", {job("n=1", 9), job("n=2", 8), job("n=3", 7), job("n=4")}, 3);
  server.run(name,
             "SET search_path = kiln; ALTER TABLE jobs DROP CONSTRAINT jobs_in_range;UPDATE jobs "
             "SET weight = 'NaN', settings = repeat('x', 1000000) WHERE id = 1;UPDATE jobs SET "
             "state = 'leased', deaths = 9223372036854775807, lease_until = '-infinity', leased_at "
             "= '-infinity' WHERE id = 2;UPDATE jobs SET lease_until = 'infinity', epoch = "
             "9223372036854775807 WHERE id = 3");
  Fleet::init(url_);  // the constraint again, over rows that break it
  EXPECT_EQ(fleet.lease(kFirst, kOffer, 60)->work.problem, "n=4");
  EXPECT_FALSE(fleet.lease(kFirst, kOffer, 60));
  const std::vector<FleetJobState> jobs = fleet.jobs(0);
  ASSERT_EQ(jobs.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(jobs[i].reason, HasSubstr("skipped: a value"));
  EXPECT_EQ(jobs[3].reason, "");
  EXPECT_EQ(fleet.cancel(0), 1);
}

TEST_F(PostgresFleet, SaysWhatIsMissing) {
  EXPECT_EQ(fleet_message([] { const Fleet fleet("kiln.db"); }),
            "kiln.db: is a file; a fleet needs a server: --db postgresql://HOST/DATABASE");
  const std::string bare = PostgresServer::shared().new_database();
  { const Store store(bare, Store::Mode::write); }
  EXPECT_EQ(fleet_message([&] { const Fleet fleet(bare); }),
            bare + ": has no fleet; `kiln fleet init --db '" + bare + "'` makes one");
  PostgresServer::shared().run(PostgresServer::database_of(url_),
                               "UPDATE kiln.fleet SET version = 7");
  EXPECT_EQ(fleet_message([&] { const Fleet fleet(url_); }),
            url_ + ": has a fleet of version 7, expected 1");
}

}  // namespace
}  // namespace kiln
