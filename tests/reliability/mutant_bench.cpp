// Compiles mutants in compile workers, and runs each one in the device worker within deadlines.
// SPDX-License-Identifier: Apache-2.0
#include "mutant_bench.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace kiln {
namespace {

// Generous for a loaded machine: what ends here is not published, it only takes long.
constexpr std::chrono::seconds kCompileDeadline{60};

// 50 times this is how long a job may take whose size was not timed.
constexpr double kSimilarNs = 2e8;

DeviceDeadlines deadlines() {
  DeviceDeadlines made;
  made.run_floor = std::chrono::seconds(1);
  made.run_cap = std::chrono::minutes(10);      // blocks of 1024 on PoCL: 40 s on an idle machine
  made.first_launch = std::chrono::seconds(0);  // the binary holds the code, see the test
  return made;
}

/// This process's part of the cores, two at least, where GoogleTest cuts the tests into shards.
std::size_t compile_workers() {
  const char* shards = std::getenv("GTEST_TOTAL_SHARDS");
  const std::size_t processes = shards != nullptr ? std::max(std::stoul(shards), 1UL) : 1;
  return std::max<std::size_t>(std::thread::hardware_concurrency() / processes, 2);
}

}  // namespace

MutantBench::MutantBench(const std::string& backend)
    : device_(host_, backend, 0, deadlines()), info_(device_.open()) {}

std::vector<CompileReport> MutantBench::compile(const std::vector<Source>& sources) {
  CompilePool pool(host_, {info_, compile_workers(), kCompileDeadline});
  for (std::size_t i = 0; i < sources.size(); ++i) pool.submit(std::to_string(i), sources[i]);
  std::vector<CompileReport> reports(sources.size());
  std::vector<WorkerProcess*> workers;
  for (std::size_t done = 0; done < sources.size();) {
    workers.clear();
    pool.append_workers(workers);
    poll_workers(workers, Clock::now() + std::chrono::seconds(1));
    for (CompilePool::Compiled& compiled : pool.step()) {
      reports[std::stoul(compiled.key)] = std::move(compiled.report);
      ++done;
    }
  }
  return reports;
}

std::vector<TrialReport> MutantBench::run(const ProblemJob& problem, const std::vector<Job>& jobs,
                                          Pace pace) {
  const auto asked = std::pair(problem.problem, problem.seed);
  if (prepared_ != asked) {
    device_.set_problem(problem);
    prepared_ = asked;
    best_ns_ = 0;
  }
  std::vector<TrialReport> reports;
  const auto wait = [&] {
    WorkerProcess* worker = device_.worker();
    poll_workers({&worker, 1}, Clock::now() + std::chrono::seconds(1));
    return device_.step();
  };
  for (const Job& job : jobs) {
    while (!device_.idle()) (void)wait();
    const double known_ns = pace == Pace::similar ? kSimilarNs : pace == Pace::known ? best_ns_ : 0;
    device_.start({job.config, *job.binary, known_ns}, DeviceClient::Chances::one);
    std::optional<TrialReport> report;
    while (!report) report = wait();
    for (const double ns : report->samples.ns)
      best_ns_ = best_ns_ > 0 ? std::min(best_ns_, ns) : ns;
    reports.push_back(std::move(*report));
  }
  while (!device_.idle()) (void)wait();
  return reports;
}

}  // namespace kiln
