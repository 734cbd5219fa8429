// A fleet as users run it: workers that are killed, a server that goes away, leases that return.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "fleet_fixture.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class FleetRuns : public FleetFixture {};

// 40 problems, 20 kills and a restart of the server with KILN_SOAK=1; a few of each without.
TEST_F(FleetRuns, KilledWorkersAndARestartedServerLoseNothing) {
  const int problems = test::is_soak() ? 40 : 6;
  const int kills = test::is_soak() ? 20 : 3;
  constexpr std::size_t kWorkers = 2;
  const Words options = "--lease 4 --quiet";
  submit(problems, "trials = 2", {"--lives", "100"});
  for (std::size_t i = 0; i < kWorkers; ++i) start_worker(i, options);
  std::mt19937 random(20261127);
  for (int kill = 0; kill < kills; ++kill) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2000 + random() % 8000));
    const std::size_t victim = random() % kWorkers;
    workers_[victim]->signal(SIGKILL);
    start_worker(victim, options);
    if (kill != kills / 2) continue;
    server_->stop();
    std::this_thread::sleep_for(2s);
    server_->start();
  }
  const auto until = std::chrono::steady_clock::now() + (test::is_soak() ? 1500s : 300s);
  while (count("done") < problems && std::chrono::steady_clock::now() < until) {
    for (std::size_t i = 0; i < kWorkers; ++i) {  // one that found nothing to do has gone
      if (workers_[i]->has_ended()) start_worker(i, options);
    }
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_EQ(count("done"), problems) << kiln(fmt::format("fleet status --db {}", url_)).out;
  workers_.clear();
  expect_each_once(problems);
}

TEST_F(FleetRuns, SigtermStoresTheTrialsAndReturnsTheLease) {
  submit(1, "seconds = 60");
  start_worker(0);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (workers_[0]->error_text().find(" trial") == std::string::npos &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(50ms);
  workers_[0]->signal(SIGTERM);
  const Output output = workers_[0]->output();
  EXPECT_EQ(output.exit_code, 143) << output.err;
  EXPECT_EQ(output.out, "0 jobs done, 0 failed, 1 returned\n");
  const Json job = status()["jobs"][0];
  EXPECT_EQ(job["state"], "waiting");
  EXPECT_EQ(job["deaths"], 0);
  EXPECT_EQ(job["reason"], "the worker was stopped");
  const Store store(url_, Store::Mode::read);
  ASSERT_EQ(store.sessions().size(), 1U);
  EXPECT_EQ(store.sessions()[0].state, SessionState::interrupted);
  EXPECT_GE(store.sessions()[0].trial_count, 1);
}

// The server is away for 60 s with KILN_SOAK=1, for 10 s without.
TEST_F(FleetRuns, ASessionGoesOnWithoutItsServerAndDeliversAfterwards) {
  submit(1, test::is_soak() ? "seconds = 30" : "seconds = 6");
  start_worker(0, {"--lease", "4"});
  ASSERT_TRUE(wait_for("leased", 1));
  std::this_thread::sleep_for(2s);
  server_->stop();
  std::this_thread::sleep_for(test::is_soak() ? 60s : 10s);
  EXPECT_FALSE(workers_[0]->has_ended());
  EXPECT_THAT(workers_[0]->error_text(), HasSubstr("; the session goes on without it"));
  server_->start();
  const Output output = workers_[0]->output();
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "1 job done, 0 failed, 0 returned\n");
  expect_each_once(1);
}

/// Commits that can be held: a trigger waits at the beginning of the commit, or the server waits
/// for a copy on another server at its end, when the rows are durable here.
class FleetCommits : public FleetFixture {
 protected:
  enum class Held { before_it_is_durable, after_it_is_durable };

  /// Holds the next commits of transactions that change `table` in rows that satisfy `condition`.
  void hold(Held held, const std::string& table, const std::string& condition) const {
    const std::string name = test::PostgresServer::database_of(url_);
    if (held == Held::after_it_is_durable) {
      server_->run(name, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
      server_->run(name, "ALTER DATABASE " + name + " SET synchronous_commit = local");
      server_->run(name, "SELECT pg_reload_conf()");
    }
    server_->run(
        name,
        std::string(
            "CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM ") +
            (held == Held::after_it_is_durable
                 ? "set_config('synchronous_commit', 'on', true)"
                 : "pg_sleep(600) FROM pg_stat_file('held', true) AS f WHERE f.size IS NOT NULL") +
            "; RETURN NULL; END $$");
    server_->run(name, "CREATE CONSTRAINT TRIGGER held AFTER INSERT OR UPDATE ON kiln." + table +
                           " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (" + condition +
                           ") EXECUTE FUNCTION public.hold()");
    std::ofstream(server_->folder() / "data/held");
  }

  [[nodiscard]] bool wait_until_held() const {
    for (int i = 0; i < 1200; ++i) {
      const std::string count = server_->rows(
          "postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event IN ('SyncRep', 'PgSleep')");
      if (count != "0\n") return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  /// Kills the server while it holds a commit, and starts one that holds none.
  void kill_and_restart() {
    server_->run("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
    std::filesystem::remove(server_->folder() / "data/held");
    server_->stop();
    server_->start();
  }
};

TEST_F(FleetCommits, AServerKilledInTheCommitOfADeliveryHasItOnce) {
  for (const Held held : {Held::before_it_is_durable, Held::after_it_is_durable}) {
    SCOPED_TRACE(held == Held::before_it_is_durable ? "lost" : "durable");
    url_ = server_->new_database();
    ASSERT_EQ(kiln(fmt::format("fleet init --db {}", url_)).exit_code, 0);
    submit(1, "trials = 2");
    hold(held, "jobs", "NEW.state = 'done'");
    start_worker(0);
    ASSERT_TRUE(wait_until_held());
    kill_and_restart();
    const Output output = workers_[0]->output();
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_THAT(output.err, HasSubstr(": the connection to the server was lost ("));
    EXPECT_THAT(output.err, HasSubstr("the server is back"));
    EXPECT_EQ(count("done"), 1);
    expect_each_once(1);
  }
}

TEST_F(FleetCommits, AServerKilledInTheCommitOfATrialEndsTheSessionWhichGoesOn) {
  for (const Held held : {Held::before_it_is_durable, Held::after_it_is_durable}) {
    SCOPED_TRACE(held == Held::before_it_is_durable ? "lost" : "durable");
    url_ = server_->new_database();
    ASSERT_EQ(kiln(fmt::format("fleet init --db {}", url_)).exit_code, 0);
    hold(held, "trials", "NEW.sequence = 2");
    const Words tune = fmt::format(
        "tune {} --problem n=100 --device opencl --db {} --trials 3 --patience 0 --compile-workers "
        "1 --warm-cache --quiet",
        kKernel, url_);
    RunningKiln running(folder_, tune);
    ASSERT_TRUE(wait_until_held());
    kill_and_restart();
    const Output output = running.output();
    EXPECT_EQ(output.exit_code, 5);
    EXPECT_THAT(output.err,
                ::testing::AllOf(StartsWith("kiln: error: " + url_ +
                                            ": the connection to the server was lost ("),
                                 HasSubstr("); what was stored before is kept; run the same "
                                           "command again when the server is back")));
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
    const std::size_t kept = held == Held::after_it_is_durable ? 2 : 1;
    EXPECT_EQ(Store(url_, Store::Mode::read).trials(1).size(), kept);
    const Output again = kiln(tune);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    const Store store(url_, Store::Mode::read);
    EXPECT_EQ(store.sessions().size(), 1U);
    EXPECT_EQ(store.trials(1).size(), 3U);
    EXPECT_THAT(store.check(), ::testing::IsEmpty());
  }
}

TEST_F(FleetRuns, AJobOfAKernelThatIsNotAllowedWaits) {
  submit(1, "trials = 2");
  const Output output =
      kiln(fmt::format("fleet work --db {} --device opencl --outbox out --quiet", url_));
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "0 jobs done, 0 failed, 0 returned\n");
  EXPECT_EQ(count("waiting"), 1);
  EXPECT_THAT(kiln(fmt::format("fleet cancel --db {}", url_)).out, StartsWith("1 job cancelled; "));
  EXPECT_EQ(kiln(fmt::format("fleet retry --db {}", url_)).out, "1 job waiting again\n");
  EXPECT_EQ(kiln(fmt::format("fleet status --db {}", url_)).out, "1 job: 1 waiting\n");
}

TEST_F(FleetRuns, SlurmGetsAnArrayOfWorkers) {
  write("small.plan.toml", std::string("name = \"small\"\n[[kernels]]\nkernel = \"") + kKernel +
                               "\"\nproblems = [\"n=100\"]\n");
  write("bin/sbatch", "#!/bin/sh\ncat > array.sh\necho Submitted batch job 7\n");
  fs::permissions(folder_ / "bin/sbatch", fs::perms::owner_all);
  const Words words = fmt::format(
      "fleet submit small.plan.toml --db {} --slurm --tasks 8 --at-once 4 "
      "--slurm-option=--gres=gpu:1",
      url_);
  const Output output =
      kiln(words, {{"PATH", (folder_ / "bin").string() + ":" + ::getenv("PATH")}});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "plan 1: 1 job submitted to " + url_ + "\nSubmitted batch job 7\n");
  const std::string script = read_text(folder_ / "array.sh");
  EXPECT_EQ(script,
            "#!/bin/sh\n#SBATCH --job-name=kiln-small\n#SBATCH --array=1-8%4\n#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n"
            "# Two minutes before the end: the session is stored and the lease returned.\n"
            "#SBATCH --signal=B:TERM@120\n#SBATCH --gres=gpu:1\nexec " +
                std::string(KILN_PROGRAM) + " fleet work --db '" + url_ +
                "' --quiet --kernel-path " + kKernel + "\n");
  Words shown = words;
  shown.emplace_back("--print");
  EXPECT_EQ(kiln(shown).out, script);
  EXPECT_EQ(count("waiting"), 1) << "--print submits nothing";
}

// Each command that asks the server, with each reason that it cannot: one line, and exit code 5.
TEST_F(FleetRuns, EachTroubleOfTheServerHasOneSentenceAndExitCodeFive) {
  const auto expect_said = [&](const std::string& url, const std::string& sentence,
                               const Environment& environment = {}) {
    write("small.plan.toml", std::string("name = \"small\"\n[[kernels]]\nkernel = \"") + kKernel +
                                 "\"\nproblems = [\"n=100\"]\n");
    for (const Words& words : std::vector<Words>{
             {"fleet", "status", "--db", url},
             {"fleet", "submit", "small.plan.toml", "--db", url},
             {"fleet", "work", "--db", url, "--device", "opencl", "--outbox", "out"},
             {"best", kKernel, "--problem", "n=100", "--device", "opencl", "--db", url}}) {
      const Output output = kiln(words, environment);
      EXPECT_EQ(output.exit_code, 5) << words[0] << ' ' << words[1];
      EXPECT_THAT(output.err, StartsWith("kiln: error: " + url + ": " + sentence))
          << words[0] << ' ' << words[1];
      EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
      EXPECT_EQ(output.out, "");
    }
  };
  const std::string name = test::PostgresServer::database_of(url_);
  expect_said("postgresql://me@nowhere.invalid/kiln", "its host is unknown (");
  expect_said(server_->url("nothing"), "the server does not have this database or role (");

  server_->run(name, "CREATE ROLE stranger LOGIN");
  expect_said(server_->url(name, "stranger"),
              "this role has no permission (permission denied for ");

  std::ofstream(server_->folder() / "data/pg_hba.conf")
      << "local all kiln_owner trust\nlocal all all scram-sha-256\n";
  server_->run(name, "ALTER ROLE stranger PASSWORD 'right'");
  server_->stop();  // so that no connection is judged by the rules before
  server_->start();
  expect_said(server_->url(name, "stranger"), "the server refused the password (",
              {{"PGPASSWORD", "geheim"}});

  server_->run(name, "UPDATE kiln.schema_version SET version = 9");
  expect_said(url_, "has schema version 9, this Kiln knows versions up to ");

  server_->stop();
  expect_said(url_, "the server cannot be reached (");
  server_->start();
}

TEST_F(FleetRuns, MistakesHaveOneSentence) {
  const auto said = [&](const Words& words, int code) {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, code);
    return output.err;
  };
  EXPECT_THAT(said({"fleet", "status", "--db", "kiln.db"}, 5),
              HasSubstr("kiln.db: is a file; a fleet needs a server: --db "));
  EXPECT_THAT(said({"fleet", "status", "--db", "postgresql://me:geheim@host/kiln"}, 2),
              ::testing::AllOf(HasSubstr("me:***@host"), ::testing::Not(HasSubstr("geheim"))));
  EXPECT_THAT(said({"fleet", "status", "--db", "postgresql://me@nowhere.invalid/kiln"}, 5),
              HasSubstr("its host is unknown"));
  EXPECT_THAT(said({"fleet", "work", "--db", server_->new_database(), "--device", "opencl"}, 5),
              HasSubstr("has no fleet; "));
  submit(1, "trials = 2");
  EXPECT_THAT(said({"fleet", "submit", "small.plan.toml", "--db", url_, "--print"}, 2),
              HasSubstr("--print shows the script of --slurm"));
  EXPECT_THAT(said({"fleet", "submit", "none.toml", "--db", url_}, 3), HasSubstr("none.toml"));
}

}  // namespace
}  // namespace kiln::cli
