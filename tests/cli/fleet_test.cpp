// A fleet as users run it: workers that are killed, a server that goes away, leases that return.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "kiln_program.hpp"
#include "tests/backends/required.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/postgres_server.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::PostgresServer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kKernel = KILN_SOURCE_DIR "/tests/cli/kernels/scale";

class FleetRuns : public TuningTest {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty())
      KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
    TuningTest::SetUp();
    if (IsSkipped()) return;
    server_ = std::make_unique<PostgresServer>();
    url_ = server_->new_database();
    ASSERT_EQ(kiln({"fleet", "init", "--db", url_}).exit_code, 0);
  }
  void TearDown() override {
    workers_.clear();
    server_.reset();
    TuningTest::TearDown();
  }

  void submit(int problems, const std::string& budget, const Words& more = {}) const {
    std::string text = "name = \"small\"\n[defaults]\n" + budget + "\n[[kernels]]\nkernel = \"" +
                       kKernel + "\"\nproblems = [";
    for (int i = 0; i < problems; ++i) text += fmt::format("\"n={}\", ", 100 + i);
    write("small.plan.toml", text + "]\n");
    Words words = {"fleet", "submit", "small.plan.toml", "--db", url_, "--warm-cache"};
    words.insert(words.end(), more.begin(), more.end());
    const Output output = kiln(words);
    ASSERT_EQ(output.exit_code, 0) << output.err;
  }

  /// Worker `index` has an outbox of its own, as a host has.
  [[nodiscard]] Words work(std::size_t index, const Words& more = {}) const {
    Words words = {"fleet",
                   "work",
                   "--db",
                   url_,
                   "--device",
                   "opencl",
                   "--outbox",
                   fmt::format("outbox{}", index),
                   "--kernel-path",
                   kKernel,
                   "--poll",
                   "0.2",
                   "--compile-workers",
                   "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void start_worker(std::size_t index, const Words& more = {}) {
    if (workers_.size() <= index) workers_.resize(index + 1);
    workers_[index] = std::make_unique<RunningKiln>(folder_, work(index, more));
  }

  [[nodiscard]] Json status() const {
    const Output output = kiln({"fleet", "status", "--db", url_, "--json"});
    return output.exit_code == 0 ? Json::parse(output.out) : Json();
  }
  [[nodiscard]] std::int64_t count(const std::string& state) const {
    const Json now = status();
    return now.is_null() ? -1 : now["counts"][state].get<std::int64_t>();
  }
  [[nodiscard]] bool wait_for(const std::string& state, std::int64_t jobs,
                              std::chrono::seconds longest = 120s) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (std::chrono::steady_clock::now() < until) {
      if (count(state) >= jobs) return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }

  /// By job: how often each event of the log of leases occurred.
  [[nodiscard]] std::map<std::int64_t, std::map<std::string, int>> lease_log() const {
    const fs::path file = server_->folder() / "log.txt";
    server_->run(
        PostgresServer::database_of(url_),
        "COPY (SELECT job, replace(event, ' ', '_') FROM kiln.lease_log ORDER BY id) TO '" +
            file.string() + "'");
    std::map<std::int64_t, std::map<std::string, int>> log;
    std::ifstream stream(file);
    std::int64_t job = 0;
    for (std::string event; stream >> job >> event;) ++log[job][event];
    return log;
  }

  /// Every problem has one best, and every lease one end.
  void expect_each_once(int problems) const {
    const Store store(url_, Store::Mode::read);
    std::map<std::string, int> published;
    for (const SessionRecord& session : store.sessions()) {
      if (store.best_of(session.id)) ++published[session.key.problem];
    }
    EXPECT_EQ(published.size(), static_cast<std::size_t>(problems));
    for (const auto& [problem, times] : published) EXPECT_EQ(times, 1) << problem;
    EXPECT_THAT(store.check(), ::testing::IsEmpty());
    for (auto& [job, events] : lease_log()) {
      std::map<std::string, int> seen = events;
      EXPECT_EQ(seen["done"], 1) << "job " << job;
      const int begun = seen["leased"] + seen["taken_back"];
      EXPECT_GE(begun, 1) << "job " << job;
      EXPECT_LE(seen["ended"] + seen["returned"], begun) << "job " << job;
      EXPECT_EQ(seen["failed"] + seen["set_aside"], 0) << "job " << job;
    }
  }

  std::unique_ptr<PostgresServer> server_;
  std::string url_;
  std::vector<std::unique_ptr<RunningKiln>> workers_;
};

// 40 problems, 20 kills and a restart of the server with KILN_SOAK=1; a few of each without.
TEST_F(FleetRuns, KilledWorkersAndARestartedServerLoseNothing) {
  const int problems = test::is_soak() ? 40 : 6;
  const int kills = test::is_soak() ? 20 : 3;
  constexpr std::size_t kWorkers = 2;
  const Words options = {"--lease", "4", "--quiet"};
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
  EXPECT_EQ(count("done"), problems) << kiln({"fleet", "status", "--db", url_}).out;
  workers_.clear();
  expect_each_once(problems);
}

TEST_F(FleetRuns, SigtermStoresTheTrialsAndReturnsTheLease) {
  submit(1, "seconds = 60");
  start_worker(0);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (workers_[0]->error_text().find("trials") == std::string::npos &&
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

TEST_F(FleetRuns, ASessionGoesOnWithoutItsServerAndDeliversAfterwards) {
  submit(1, "seconds = 6");
  start_worker(0, {"--lease", "4"});
  ASSERT_TRUE(wait_for("leased", 1));
  std::this_thread::sleep_for(2s);
  server_->stop();
  std::this_thread::sleep_for(10s);
  EXPECT_FALSE(workers_[0]->has_ended());
  EXPECT_THAT(workers_[0]->error_text(), HasSubstr("; the session goes on without it"));
  server_->start();
  const Output output = workers_[0]->output();
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "1 job done, 0 failed, 0 returned\n");
  expect_each_once(1);
}

TEST_F(FleetRuns, AJobOfAKernelThatIsNotAllowedWaits) {
  submit(1, "trials = 1");
  const Output output =
      kiln({"fleet", "work", "--db", url_, "--device", "opencl", "--outbox", "out", "--quiet"});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "0 jobs done, 0 failed, 0 returned\n");
  EXPECT_EQ(count("waiting"), 1);
  EXPECT_THAT(kiln({"fleet", "cancel", "--db", url_}).out, StartsWith("1 job cancelled; "));
  EXPECT_EQ(kiln({"fleet", "retry", "--db", url_}).out, "1 job waiting again\n");
  EXPECT_EQ(kiln({"fleet", "status", "--db", url_}).out, "1 job: 1 waiting\n");
}

TEST_F(FleetRuns, SlurmGetsAnArrayOfWorkers) {
  write("small.plan.toml", std::string("name = \"small\"\n[[kernels]]\nkernel = \"") + kKernel +
                               "\"\nproblems = [\"n=100\"]\n");
  write("bin/sbatch", "#!/bin/sh\ncat > array.sh\necho Submitted batch job 7\n");
  fs::permissions(folder_ / "bin/sbatch", fs::perms::owner_all);
  const Words words = {"fleet",
                       "submit",
                       "small.plan.toml",
                       "--db",
                       url_,
                       "--slurm",
                       "--tasks",
                       "8",
                       "--at-once",
                       "4",
                       "--slurm-option=--gres=gpu:1"};
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

TEST_F(FleetRuns, MistakesHaveOneSentence) {
  const auto said = [&](const Words& words, int code) {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, code);
    return output.err;
  };
  EXPECT_THAT(said({"fleet", "status", "--db", "kiln.db"}, 5),
              HasSubstr("kiln.db: is a file; a fleet needs a server, as "));
  EXPECT_THAT(said({"fleet", "status", "--db", "postgresql://me:geheim@host/kiln"}, 2),
              ::testing::AllOf(HasSubstr("me:***@host"), ::testing::Not(HasSubstr("geheim"))));
  EXPECT_THAT(said({"fleet", "status", "--db", "postgresql://me@nowhere.invalid/kiln"}, 5),
              HasSubstr("its host is unknown"));
  EXPECT_THAT(said({"fleet", "work", "--db", server_->new_database(), "--device", "opencl"}, 5),
              HasSubstr("has no fleet; "));
  submit(1, "trials = 1");
  EXPECT_THAT(said({"fleet", "submit", "small.plan.toml", "--db", url_, "--print"}, 2),
              HasSubstr("--print shows the script of --slurm"));
  EXPECT_THAT(said({"fleet", "submit", "none.toml", "--db", url_}, 3), HasSubstr("none.toml"));
}

}  // namespace
}  // namespace kiln::cli
