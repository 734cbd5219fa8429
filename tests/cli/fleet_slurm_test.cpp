// A fleet on a real Slurm with two nodes: the array of workers runs, and a preempted task loses
// nothing.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "db/store.hpp"
#include "fleet_fixture.hpp"
#include "tests/backends/required.hpp"
#include "tests/support/slurm_cluster.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::SlurmCluster;

class FleetOnSlurm : public FleetFixture {
 protected:
  void SetUp() override {
    if (!SlurmCluster::missing().empty())
      KILN_SKIP_UNLESS_REQUIRED("slurm", SlurmCluster::missing());
    FleetFixture::SetUp();
    if (!IsSkipped()) slurm_ = std::make_unique<SlurmCluster>();
  }
  void TearDown() override {
    slurm_.reset();
    FleetFixture::TearDown();
  }

  /// Submits a plan, and an array of `tasks` workers to Slurm.
  void submit_array(int problems, const std::string& budget, int tasks) const {
    submit(problems, budget, {"--slurm", "--tasks", std::to_string(tasks)},
           {{"SLURM_CONF", slurm_->configuration()}});
  }

  /// A field of each task, ended ones too, as squeue's --format names it.
  [[nodiscard]] std::multiset<std::string> tasks(const std::string& format) const {
    std::istringstream lines(
        slurm_->run({"squeue", "--noheader", "--array", "--states=all", "--format=" + format}));
    std::multiset<std::string> found;
    for (std::string line; std::getline(lines, line);) found.insert(line);
    return found;
  }

  template <typename Condition>
  [[nodiscard]] static bool wait_until(const Condition& condition, std::chrono::seconds longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (std::chrono::steady_clock::now() < until) {
      if (condition()) return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }

  /// The outputs of all tasks; they were submitted in the test's folder.
  [[nodiscard]] std::string task_outputs() const {
    std::string text;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename().string().starts_with("slurm-")) text += read_text(entry.path());
    }
    return text;
  }

  /// How many trials of the only session in an outbox are stored; 0 if there is none yet.
  [[nodiscard]] std::int64_t trials_in_outbox() const {
    std::error_code error;
    const fs::path outbox = folder_ / ".local/share/kiln/outbox";
    for (const auto& entry : fs::recursive_directory_iterator(outbox, error)) {
      if (entry.path().extension() != ".db") continue;
      try {
        const Store store(entry.path(), Store::Mode::read);
        if (!store.sessions().empty()) return store.sessions().front().trial_count;
      } catch (const DatabaseError&) {  // its worker has only just made the file
        return 0;
      }
    }
    return 0;
  }

  std::unique_ptr<SlurmCluster> slurm_;
};

TEST_F(FleetOnSlurm, BothNodesWorkOffAPlanAndEachProblemIsPublishedOnce) {
  constexpr int kProblems = 4;
  submit_array(kProblems, "trials = 8", 2);  // on a busy machine, too
  EXPECT_TRUE(wait_for("done", kProblems, 90s)) << task_outputs() << slurm_->logs();
  // A worker ends when no job is left.
  EXPECT_TRUE(wait_until([&] { return tasks("%T").count("COMPLETED") == 2; }, 30s));
  EXPECT_THAT(tasks("%N"), ::testing::ElementsAre("n1", "n2")) << task_outputs();
  std::set<std::string> workers;
  const Json now = status();
  for (const Json& job : now["jobs"]) workers.insert(job["worker"].get<std::string>());
  EXPECT_EQ(workers.size(), 2U) << "the worker of each node has done jobs: " << now.dump(1);
  expect_each_once(kProblems);
}

TEST_F(FleetOnSlurm, APreemptedTaskReturnsItsLeaseAndGoesOnWhenItIsRequeued) {
  submit_array(1, "seconds = 12", 1);
  ASSERT_TRUE(wait_until([&] { return trials_in_outbox() > 0; }, 60s)) << task_outputs();
  // Both nodes are wanted by a job that may preempt.
  (void)slurm_->run({"sbatch", "--parsable", "--partition=urgent", "--nodes=2",
                     "--output=/dev/null", "--wrap=true"});
  ASSERT_TRUE(wait_for("waiting", 1, 30s)) << task_outputs() << slurm_->logs();
  const Json returned = status()["jobs"][0];
  EXPECT_EQ(returned["deaths"], 0);
  EXPECT_EQ(returned["reason"], "the worker was stopped");
  EXPECT_THAT(task_outputs(), HasSubstr("0 jobs done, 0 failed, 1 returned"));

  // Slurm lets a requeued task wait for two minutes; the test does not.
  const auto runs_again = [&] {
    const std::string state = slurm_->run({"squeue", "--noheader", "--job=1", "--format=%T"});
    try {
      if (state == "PENDING\n")
        (void)slurm_->run({"scontrol", "update", "JobId=1", "StartTime=now"});
    } catch (const std::exception&) {  // it began in between
      return false;
    }
    return state == "RUNNING\n";
  };
  ASSERT_TRUE(wait_until(runs_again, 40s)) << "Slurm requeues the task: " << slurm_->logs();
  EXPECT_TRUE(wait_for("done", 1, 90s)) << task_outputs() << slurm_->logs();
  expect_each_once(1);
  std::map<std::string, int> events = lease_log()[1];
  EXPECT_EQ(events["leased"], 2);
  EXPECT_EQ(events["returned"], 1);
  const Store store(url_, Store::Mode::read);
  ASSERT_EQ(store.sessions().size(), 1U) << "the requeued task goes on with the same session";
  for (const TrialRecord& record : store.trials(store.sessions()[0].id))
    EXPECT_EQ(record.trial.outcome, Outcome::ok) << record.trial.message;
}

}  // namespace
}  // namespace kiln::cli
