// kiln_fleet_bench: a fleet of many workers against one PostgreSQL server, without a device. Each
// worker is a thread with a connection of its own. It leases jobs, renews its leases while it
// pretends to tune, and delivers a session with made-up times; now and then it dies with its job.
// At the end every job must be done once.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/workbench.hpp"
#include "core/errors.hpp"
#include "core/json.hpp"
#include "db/fleet.hpp"
#include "db/store.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string database;
  int workers = 500;
  int jobs = 3000;
  int trials = 20;          ///< of each session
  double job_seconds = 30;  ///< mean; a job takes half to one and a half of it
  double lease_seconds = 20;
  double deaths = 0.02;  ///< share of jobs whose worker dies
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// How long calls took, by name. Any thread may add.
class Latencies {
 public:
  template <typename Call>
  auto timed(const std::string& name, Call call) {
    const Clock::time_point begin = Clock::now();
    auto result = call();
    const std::lock_guard lock(mutex_);
    seconds_[name].push_back(seconds_since(begin));
    return result;
  }
  void print(double wall) {
    fmt::print("{:<10} {:>8} {:>10} {:>12} {:>12} {:>12}\n", "call", "calls", "a second",
               "median ms", "99% ms", "most ms");
    for (auto& [name, seconds] : seconds_) {
      std::sort(seconds.begin(), seconds.end());
      const auto at = [&](double share) {
        return 1e3 *
               seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
      };
      fmt::print("{:<10} {:>8} {:>10.1f} {:>12.1f} {:>12.1f} {:>12.1f}\n", name, seconds.size(),
                 static_cast<double>(seconds.size()) / wall, at(0.5), at(0.99), at(1));
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<double>> seconds_;
};

const Workbench& workbench() {
  for (const Workbench& each : workbenches()) {
    if (each.spec.name == "transpose") return each;
  }
  throw std::logic_error("no transpose");
}

std::vector<FleetJob> jobs_of(const Options& options) {
  std::vector<FleetJob> jobs;
  const std::string hash = content_hash(workbench().spec);
  for (int i = 0; i < options.jobs; ++i) {
    const std::string text = fmt::format("rows={} cols={}", 64 + i, 128);
    jobs.push_back({.kernel = "transpose",
                    .spec_hash = hash,
                    .problem = Problem::parse(workbench().spec, text).text(),
                    .device = "",
                    .settings = "{}",
                    .weight = static_cast<double>(i % 100)});
  }
  return jobs;
}

/// A finished session of the job's problem, as a worker's outbox holds it.
void write_session(const fs::path& file, const FleetJob& job, const std::string& place,
                   int trials) {
  const Problem problem = Problem::parse(workbench().spec, job.problem);
  Store store(file, Store::Mode::write);
  SessionRecord record;
  record.key.kernel = job.kernel;
  record.key.spec_hash = job.spec_hash;
  record.key.problem = job.problem;
  record.key.device = identity_of(workbench_device());
  record.key.driver = place;
  record.key.compiler = workbench_device().compiler;
  record.key.strategy = "random";
  record.device_info = workbench_device();
  record.problem_json = to_json(problem).dump();
  record.started_at = "2026-11-21T00:00:00Z";
  const SessionId session = store.begin_session(record);
  Trial trial;
  trial.config = workbench().config;
  trial.time_ns = 1e4;
  trial.samples.ns.assign(20, 1e4);
  for (int i = 1; i <= trials; ++i) {
    trial.config.values.front().second = std::int64_t{i};  // a session holds each config once
    store.append(session, i, trial);
  }
  BestRecord best;
  best.session = session;
  best.key = record.key;
  best.device_info = workbench_device();
  best.problem_json = record.problem_json;
  best.config = workbench().config;
  best.template_hash =
      template_hash(workbench().spec, *workbench().spec.find_variant(best.config.variant));
  best.time_ns = 1e4;
  best.verdict = Verdict::better;
  best.published_at = "2026-11-21T00:00:00Z";
  store.finish(session, SessionState::finished, 1, best);
}

/// What all workers share.
struct Run {
  Options options;
  fs::path folder;
  Latencies latencies;
  std::atomic<int> delivered = 0;
  std::atomic<int> late = 0;  ///< another worker's result came first
  std::atomic<int> died = 0;
  std::atomic<int> errors = 0;
};

/// Works on a leased job. False: the worker died over it.
bool work_on(Run& run, Fleet& fleet, FleetLease lease, const FleetWorker& worker,
             std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  double left = run.options.job_seconds * (0.5 + share(random));
  const bool dies = share(random) < run.options.deaths;
  if (dies) left *= share(random);
  while (left > 0) {
    const double step = std::min(left, run.options.lease_seconds / 3);
    wait(step);
    left -= step;
    if (left <= 0) break;
    const LeaseState state = run.latencies.timed(
        "renew", [&] { return fleet.renew(lease, worker, 1, run.options.lease_seconds); });
    if (state == LeaseState::lost) return true;
  }
  if (dies) {
    ++run.died;
    return false;
  }
  const fs::path file = run.folder / fmt::format("{}.{}.db", lease.job, lease.epoch);
  write_session(file, lease.work, worker.device, run.options.trials);
  const bool first = run.latencies.timed(
      "deliver", [&] { return fleet.finish(lease.job, worker, file, R"({"time_ns": 1e4})"); });
  ++(first ? run.delivered : run.late);
  fs::remove(file);
  return true;
}

void work(Run& run, int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const FleetOffer offer{{"transpose " + content_hash(workbench().spec)}, {"", "cuda"}};
  for (int life = 0;; ++life) {
    try {
      Fleet fleet(run.options.database);
      const FleetWorker worker{fmt::format("host{}:{}", number, life), "cuda:0", "host:/outbox"};
      for (bool alive = true; alive;) {
        const std::optional<FleetLease> lease = run.latencies.timed(
            "lease", [&] { return fleet.lease(worker, offer, run.options.lease_seconds); });
        if (lease) {
          alive = work_on(run, fleet, *lease, worker, random);
        } else if (!fleet.has_work(offer)) {
          return;
        } else {
          wait(2);
        }
      }
    } catch (const std::exception& error) {
      if (run.errors++ == 0) fmt::print(stderr, "worker {}: {}\n", number, error.what());
      wait(1);
    }
  }
}

int simulate(const Options& options) {
  Fleet::init(options.database);
  Fleet fleet(options.database);
  Run run;
  run.options = options;
  run.folder = fs::temp_directory_path() / fmt::format("kiln_fleet_bench.{}", getpid());
  fs::create_directories(run.folder);
  const std::int64_t plan = fleet.submit("bench", jobs_of(options), 1000);
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(options.workers));
  for (int i = 0; i < options.workers; ++i) threads.emplace_back(work, std::ref(run), i);
  for (std::thread& thread : threads) thread.join();
  const double wall = seconds_since(begin);
  fs::remove_all(run.folder);
  run.latencies.print(wall);
  const std::vector<FleetJobState> states = fleet.jobs(plan);
  const auto done = std::count_if(states.begin(), states.end(),
                                  [](const auto& job) { return job.state == "done"; });
  fmt::print(
      "{} workers, {} of {} jobs done in {:.0f} s; delivered first {}, late {}; workers that died "
      "{}; errors {}\n",
      options.workers, done, states.size(), wall, run.delivered.load(), run.late.load(),
      run.died.load(), run.errors.load());
  return done == options.jobs && run.delivered == options.jobs ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int count, char** texts) {
  kiln::Options options;
  CLI::App app("A fleet of workers without devices against one PostgreSQL server.");
  app.add_option("--db", options.database,
                 "URL of an empty database of a role that may create tables and roles")
      ->required();
  app.add_option("--workers", options.workers, "Threads, each with a connection")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "Problems")->capture_default_str();
  app.add_option("--trials", options.trials, "Trials of each session that is delivered")
      ->capture_default_str();
  app.add_option("--job-seconds", options.job_seconds, "Mean time of a job")->capture_default_str();
  app.add_option("--lease-seconds", options.lease_seconds, "Length of a lease")
      ->capture_default_str();
  app.add_option("--deaths", options.deaths, "Share of jobs whose worker dies")
      ->capture_default_str();
  CLI11_PARSE(app, count, texts);
  try {
    return kiln::simulate(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kiln_fleet_bench: {}\n", error.what());
    return 1;
  }
}
