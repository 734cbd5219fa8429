// A fleet of workers, a server and a network that fail, as one program without threads, drawn by a
// seed. Server and workers decide by db/fleet_rules.hpp, as the real ones do.
//
// What must hold, after every step:
//   - a job has at most one worker that may believe it holds the lease (only where the server's
//     clock does not jump, and nobody cancelled: a worker learns of both at its next renewal);
//   - only the worker of the newest lease renews it, gives it back or fails the job;
//   - an epoch is granted once; a job that is done stays done, with one result.
// And after the failures have ended: every job has ended, every finished session was delivered, and
// every trial that a worker measured for a job without a result is with the server.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "db/fleet_rules.hpp"

namespace kiln {
namespace {

/// What the model may be told to do wrong, to see that the invariants notice.
enum class Planted { nothing, lease_forgets_its_epoch, second_result_counts, file_goes_too_early };

constexpr int kJobs = 10;
constexpr int kHosts = 3;
constexpr int kLives = 3;
constexpr double kLeaseSeconds = 120;
constexpr int kTrialsOfASession = 40;
constexpr std::array<std::uint64_t, 2> kSeedsOfFaults = {0, 1};

struct OutboxFile {
  std::int64_t epoch = 0;  ///< as noted beside the file
  int trials = 0;
  bool is_finished = false;
};

struct Host {
  enum class State { dead, recovering, idle, tuning, delivering, returning, failing } state{};
  std::map<int, OutboxFile> outbox;  ///< by job
  int process = 0;                   ///< a new one after each death
  int job = -1;
  std::int64_t epoch = 0;
  double believes_until = 0;
  double next_renewal = 0;
  bool is_cut_off = false;  ///< the network does not reach it
};

struct Server {
  struct Job {
    JobRow row;
    double lease_until = 0;
    int results = 0;
    std::map<int, int> trials;           ///< stored, by host
    std::optional<int> holder;           ///< process of the newest lease
    std::set<std::int64_t> epochs = {};  ///< granted
  };
  std::vector<Job> jobs = std::vector<Job>(kJobs);
  double clock = 0;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Planted planted)
      : random_(seed), planted_(planted), clock_jumps_(seed % 2 == 1) {
    for (Server::Job& job : server_.jobs) job.row.lives = kLives;
  }

  /// How often each event happened.
  [[nodiscard]] const std::map<std::string, int>& events() const { return events_; }
  /// Returns what was broken; empty: nothing.
  std::string run(int steps) {
    for (int i = 0; i < steps && broken_.empty(); ++i) step();
    heal();
    for (int i = 0; i < 20000 && broken_.empty() && !is_quiet(); ++i) step();
    if (broken_.empty()) check_end();
    return broken_;
  }

 private:
  bool chance(int in_thousand) {
    return static_cast<int>(random_() % 1000) < in_thousand && !healed_;
  }
  int any(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  void require(bool holds, const char* what) {
    if (!holds && broken_.empty()) broken_ = what;
  }

  // --- The server: each call is one transaction
  // ---------------------------------------------------

  Server::Job& job_at(int number) { return server_.jobs[static_cast<std::size_t>(number)]; }

  template <typename Rule>
  auto apply(int number, Rule&& rule) {
    Server::Job& job = job_at(number);
    const bool was_done = job.row.state == "done";
    const std::int64_t epoch = job.row.epoch;
    job.row.lease_left = job.lease_until - server_.clock;
    auto result = rule(job.row);
    if constexpr (std::is_same_v<decltype(result), std::string_view>) {
      if (!result.empty()) ++events_[std::string(result)];
    }
    job.lease_until = server_.clock + job.row.lease_left;
    require(!was_done || job.row.state == "done", "a job that was done is not done any more");
    if (job.row.epoch != epoch) {
      require(job.epochs.insert(job.row.epoch).second, "an epoch was granted twice");
    }
    return result;
  }
  /// `epoch` as the rules get it.
  std::int64_t epoch_for(int number, std::int64_t epoch) {
    return planted_ == Planted::lease_forgets_its_epoch ? job_at(number).row.epoch : epoch;
  }
  void require_holder(int number, int process) {
    require(job_at(number).holder == process, "a lease was used by a worker that has lost it");
  }

  void end_leases() {
    for (int job = 0; job < kJobs; ++job) (void)apply(job, end_lease);
  }
  std::optional<int> serve_lease(int process) {
    end_leases();
    const int first = any(kJobs);
    for (int i = 0; i < kJobs; ++i) {
      const int job = (first + i) % kJobs;
      const auto event = apply(job, [&](JobRow& row) {
        return grant_lease(row, std::to_string(process), kLeaseSeconds);
      });
      if (event.empty()) continue;
      job_at(job).holder = process;
      return job;
    }
    return std::nullopt;
  }
  /// Returns the epoch that the worker holds now; nullopt: lost.
  std::optional<std::int64_t> serve_renewal(int number, int process, std::int64_t asked) {
    const std::int64_t epoch = epoch_for(number, asked);
    if (apply(number, [&](JobRow& row) { return renew_lease(row, epoch, kLeaseSeconds); })) {
      require_holder(number, process);
      return asked;
    }
    const auto event = apply(number, [&](JobRow& row) {
      return take_back(row, epoch, std::to_string(process), kLeaseSeconds);
    });
    if (event.empty()) return std::nullopt;
    require_holder(number, process);
    return job_at(number).row.epoch;
  }
  void store_trials(int number, int host, int trials) {
    int& stored = job_at(number).trials[host];
    stored = std::max(stored, trials);
  }
  void serve_finish(int number, int host, int process, int trials) {
    const auto event =
        apply(number, [&](JobRow& row) { return finish_job(row, std::to_string(process)); });
    if (event == "done" || planted_ == Planted::second_result_counts) {
      store_trials(number, host, trials);
      ++job_at(number).results;
    }
    require(job_at(number).results == 1, "a job that is done has not exactly one result");
  }
  void serve_return(int number, int host, int process, std::int64_t epoch, int trials) {
    store_trials(number, host, trials);
    const auto event = apply(number, [&](JobRow& row) {
      return give_back(row, epoch == 0 ? 0 : epoch_for(number, epoch), "stopped");
    });
    if (!event.empty()) require_holder(number, process);
  }
  void serve_failure(int number, int host, int process, std::int64_t epoch, int trials) {
    store_trials(number, host, trials);
    const auto event = apply(number, [&](JobRow& row) {
      return fail_job(row, epoch_for(number, epoch), std::to_string(process), "failed");
    });
    if (event == "failed") require_holder(number, process);
  }
  void serve_burial(int number, std::int64_t epoch) {
    const bool is_buried = apply(number, [&](JobRow& row) { return bury_lease(row, epoch); });
    if (is_buried)
      require(!is_alive(job_at(number).holder), "the lease of a living worker was buried");
    end_leases();
  }

  // --- The network
  // ---------------------------------------------------------------------------------

  /// Asks the server. False: no answer came; the server may have done it, or does it later.
  bool ask(const Host& host, std::function<void()> request) {
    if (server_is_away_ || host.is_cut_off || chance(60)) {
      if (chance(300)) late_.push_back(std::move(request));
      return false;
    }
    request();
    return !chance(40);
  }

  // --- The workers
  // ---------------------------------------------------------------------------------

  bool is_alive(std::optional<int> process) const {
    return process && std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
             return host.process == *process && host.state != Host::State::dead;
           });
  }

  void act(int number) {
    Host& host = hosts_[static_cast<std::size_t>(number)];
    if (host.state != Host::State::dead && chance(8)) {
      host.state = Host::State::dead;
      return;
    }
    switch (host.state) {
      case Host::State::dead:
        host.process = ++processes_;
        host.job = -1;
        host.state = Host::State::recovering;
        return;
      case Host::State::recovering:
        return recover(host, number);
      case Host::State::idle:
        return look_for_work(host);
      case Host::State::tuning:
        return tune(host);
      case Host::State::delivering:
      case Host::State::returning:
      case Host::State::failing:
        return end_job(host, number);
    }
  }

  void recover(Host& host, int number) {
    const auto next = host.outbox.upper_bound(host.job);
    if (next == host.outbox.end()) {
      host.state = Host::State::idle;
      return;
    }
    const int job = next->first;
    const OutboxFile file = next->second;
    const auto what = recovery_of(file.trials > 0, file.is_finished, job_at(job).row.state);
    bool is_answered = false;
    switch (what) {
      case Recovery::deliver:
        is_answered = ask(host, [=, this, process = host.process, trials = file.trials] {
          serve_finish(job, number, process, trials);
        });
        break;
      case Recovery::keep:
      case Recovery::drop:
        is_answered = ask(host, [=, this, epoch = file.epoch] { serve_burial(job, epoch); });
        break;
      case Recovery::store:
        is_answered = ask(host, [=, this, process = host.process, trials = file.trials] {
          serve_return(job, number, process, 0, trials);
        });
        break;
    }
    if (!is_answered) return;
    host.job = job;
    if (what != Recovery::keep) remove_file(host, number, job);
  }

  void remove_file(Host& host, int number, int job) {
    require(
        job_at(job).row.state == "done" || job_at(job).trials[number] >= host.outbox[job].trials,
        "a file was removed before its trials were with the server");
    host.outbox.erase(job);
  }

  void look_for_work(Host& host) {
    const double asked_at = server_.clock;
    const auto job = std::make_shared<std::optional<int>>();  // a late answer reaches nobody
    const bool is_answered =
        ask(host, [=, this, process = host.process] { *job = serve_lease(process); });
    if (is_answered && *job) begin(host, **job, asked_at);
  }

  void begin(Host& host, int job, double asked_at) {
    host.job = job;
    host.epoch = job_at(job).row.epoch;
    host.believes_until = asked_at + kLeaseSeconds;
    host.next_renewal = asked_at + kLeaseSeconds / 4;
    host.outbox[job].epoch = host.epoch;  // the session of before goes on
    host.state = host.outbox[job].is_finished ? Host::State::delivering : Host::State::tuning;
    was_cancelled_.erase({job, host.process});
  }
  void tune(Host& host) {
    if (server_.clock >= host.next_renewal) {
      const double asked_at = server_.clock;
      const auto epoch = std::make_shared<std::optional<std::int64_t>>();
      const bool is_answered =
          ask(host, [=, this, job = host.job, process = host.process, asked = host.epoch] {
            *epoch = serve_renewal(job, process, asked);
          });
      if (is_answered && !*epoch) {
        host.state = Host::State::returning;
        return;
      }
      if (is_answered) {
        host.epoch = **epoch;
        host.believes_until = asked_at + kLeaseSeconds;
        was_cancelled_.erase({host.job, host.process});
      }
      host.next_renewal = asked_at + kLeaseSeconds / 4;
    }
    OutboxFile& file = host.outbox[host.job];
    ++file.trials;
    file.is_finished = file.trials >= kTrialsOfASession;
    if (file.is_finished) {
      finished_.insert(host.job);
      host.state = Host::State::delivering;
    } else if (chance(10)) {
      host.state = Host::State::returning;
    } else if (chance(3)) {
      host.state = Host::State::failing;
    }
  }

  void end_job(Host& host, int number) {
    const OutboxFile file = host.outbox[host.job];
    const Host::State state = host.state;
    const auto request = [=, this, job = host.job, process = host.process, epoch = host.epoch] {
      if (state == Host::State::delivering) serve_finish(job, number, process, file.trials);
      if (state == Host::State::returning) serve_return(job, number, process, epoch, file.trials);
      if (state == Host::State::failing) serve_failure(job, number, process, epoch, file.trials);
    };
    const bool is_answered = ask(host, request);
    if (state == Host::State::returning) {
      host.state = Host::State::idle;  // does not wait for the server, and keeps the file
    } else if (is_answered || planted_ == Planted::file_goes_too_early) {
      remove_file(host, number, host.job);
      host.state = Host::State::idle;
    }
  }

  // --- The world
  // -----------------------------------------------------------------------------------

  void step() {
    server_.clock += any(8);
    if (chance(4)) server_is_away_ = true;
    if (server_is_away_ && (healed_ || chance(30))) {
      server_is_away_ = false;  // restarted: what was on its way to the old one is gone or comes
      if (clock_jumps_) server_.clock += any(200) - 50;
    }
    if (!late_.empty() && !server_is_away_ && (healed_ || chance(200))) {
      const std::function<void()> request = std::move(late_.front());
      late_.erase(late_.begin());
      request();
    }
    if (chance(3)) operate();
    Host& host = hosts_[static_cast<std::size_t>(any(kHosts))];
    host.is_cut_off = host.is_cut_off ? !healed_ && !chance(20) : chance(5);
    act(any(kHosts));
    if (!clock_jumps_) check_belief();
  }

  /// `kiln fleet cancel` and `retry`, whose statements move all jobs of a plan at once.
  void operate() {
    const int number = any(kJobs);
    Server::Job& job = job_at(number);
    if (job.row.state == "waiting" || job.row.state == "leased") {
      job.row.state = "cancelled";
      for (const Host& host : hosts_) was_cancelled_.insert({number, host.process});
    } else if (job.row.state != "done") {
      job.row.state = "waiting";
      job.row.deaths = 0;
    }
  }

  void check_belief() {
    for (int job = 0; job < kJobs; ++job) {
      const auto believers = std::count_if(hosts_.begin(), hosts_.end(), [&](const Host& host) {
        return host.state == Host::State::tuning && host.job == job &&
               host.believes_until > server_.clock && !was_cancelled_.count({job, host.process});
      });
      require(believers <= 1, "two workers may believe that they hold one lease");
    }
  }

  void heal() {
    healed_ = true;
    for (Server::Job& job : server_.jobs) {
      if (job.row.state != "cancelled" && job.row.state != "aside") continue;
      job.row.state = "waiting";
      job.row.deaths = 0;
    }
    for (Host& host : hosts_) host.state = Host::State::dead;  // each outbox is looked through
  }

  bool is_quiet() {
    return late_.empty() &&
           std::all_of(server_.jobs.begin(), server_.jobs.end(), [](const Server::Job& job) {
             return job.row.state != "waiting" && job.row.state != "leased";
           });
  }

  void check_end() {
    require(is_quiet(), "a job never ended");
    for (Host& host : hosts_) host.state = Host::State::dead;
    for (Host& host : hosts_) host.is_cut_off = false;
    for (int i = 0; i < 1000 && broken_.empty(); ++i) act(any(kHosts));
    for (const Host& host : hosts_) require(host.outbox.empty(), "an outbox was never emptied");
    for (const Server::Job& job : server_.jobs)
      require(job.row.state != "done" || job.results == 1, "a job is done without its result");
    for (const int job : finished_)
      require(job_at(job).row.state == "done", "a finished session was lost");
  }

  std::mt19937_64 random_;
  Planted planted_;
  bool clock_jumps_;
  bool healed_ = false;
  bool server_is_away_ = false;
  int processes_ = 0;
  Server server_;
  std::vector<Host> hosts_ = std::vector<Host>(kHosts);
  std::vector<std::function<void()>> late_;
  std::set<int> finished_;                       ///< jobs of which a session was finished
  std::set<std::pair<int, int>> was_cancelled_;  ///< job and process that does not know it yet
  std::map<std::string, int> events_;
  std::string broken_;
};

constexpr int kSteps = 1000;

/// The first of `seeds` seeds that breaks something, with what it breaks.
std::optional<std::pair<std::uint64_t, std::string>> first_fault(Planted planted,
                                                                 std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::string broken = Simulation(seed, planted).run(kSteps);
    if (!broken.empty()) return std::pair(seed, std::move(broken));
  }
  return std::nullopt;
}

TEST(FleetSimulation, KeepsItsPromisesForAMillionSteps) {
  const std::uint64_t seeds = std::getenv("KILN_SOAK") != nullptr ? 100000 : 1000;
  std::map<std::string, int> events;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Simulation simulation(seed, Planted::nothing);
    ASSERT_EQ(simulation.run(kSteps), "") << "seed " << seed;
    for (const auto& [event, count] : simulation.events()) events[event] += count;
  }
  // Every way that a lease can go was gone often.
  for (const char* event :
       {"leased", "taken back", "returned", "ended", "set aside", "done", "late", "failed"})
    EXPECT_GT(events[event], 100) << event;
  for (const auto& [event, count] : events) std::cout << event << ": " << count << "\n";
  std::cout << "simulated the fleet for " << seeds * kSteps << " steps\n";
}

// Each seed found a fault once, in the rules or in this model.
TEST(FleetSimulation, SeedsThatFoundFaultsStayClean) {
  for (const std::uint64_t seed : kSeedsOfFaults)
    EXPECT_EQ(Simulation(seed, Planted::nothing).run(kSteps), "") << "seed " << seed;
}

TEST(FleetSimulation, FindsPlantedFaults) {
  for (const auto& [planted, name] :
       {std::pair(Planted::lease_forgets_its_epoch, "a lease that forgets its epoch"),
        std::pair(Planted::second_result_counts, "a second result that counts"),
        std::pair(Planted::file_goes_too_early, "a file removed before the answer")}) {
    const auto fault = first_fault(planted, 100);
    ASSERT_TRUE(fault) << name;
    std::cout << name << ": seed " << fault->first << ", " << fault->second << "\n";
  }
}

}  // namespace
}  // namespace kiln
