// Sends jobs to the device worker, sets their deadlines, and replaces a worker that fails.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/device_client.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/transient_error.hpp"

namespace kiln {
namespace {

// A device that cannot be opened and prepared this many times in a row is gone.
constexpr int kMaxFailedStarts = 3;
// Checks may take this many times what they ever took: not every config is put through all.
constexpr int kCheckSlack = 5;
// Measuring may take this many times what its own time limit and the length of a run suggest.
constexpr double kMeasureSlack = 5;

Clock::duration nanoseconds(double ns) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::nano>(ns));
}

double nanoseconds_of(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

/// Time that one reading of the energy may take, its warm-up and the meter's steps included.
double energy_ns(const MeasureOptions& options, double run_ns) {
  constexpr double kSteps = 1e9;
  return options.energy ? options.energy_ns + kSteps + 2 * run_ns : 0;
}

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Clock::duration run_limit(const DeviceDeadlines& deadlines, double best_ns) {
  const double factor = deadlines.run_factor * best_ns;
  // Compared as numbers: a duration could not hold 50 times a very long run.
  if (best_ns <= 0 || factor >= nanoseconds_of(deadlines.run_cap)) return deadlines.run_cap;
  return std::max<Clock::duration>(nanoseconds(factor), deadlines.run_floor);
}

Clock::duration finals_limit(const DeviceDeadlines& deadlines, double longest_run_ns,
                             const FinalsJob& job) {
  constexpr int kMoreRuns = 2;  // of each config: a warm-up and the check of its result
  const auto configs = static_cast<int>(job.configs.size());
  const int runs = static_cast<int>(job.rounds.min_rounds) + kMoreRuns;
  const auto for_runs = std::max<Clock::duration>(run_limit(deadlines, longest_run_ns) * runs,
                                                  deadlines.run_cap * kMoreRuns);
  return deadlines.first_launch + for_runs * configs +
         nanoseconds(kMeasureSlack * job.rounds.max_ns);
}

DeviceClient::DeviceClient(WorkerHost& host, std::string backend, int ordinal,
                           DeviceDeadlines deadlines)
    : host_(host), backend_(std::move(backend)), ordinal_(ordinal), deadlines_(deadlines) {
  start_worker();
}

void DeviceClient::start_worker() {
  worker_ =
      std::make_unique<WorkerProcess>(host_.command({WorkerKind::device, backend_, ordinal_}));
  worker_->set_deadline(Clock::now() + deadlines_.open);
  state_ = State::opening;
}

const DeviceInfo& DeviceClient::open() {
  while (!device_) {
    WorkerProcess* worker = worker_.get();
    poll_workers({&worker, 1}, Clock::now() + std::chrono::seconds(1));
    (void)step();
  }
  return *device_;
}

void DeviceClient::set_problem(ProblemJob job) {
  problem_ = std::move(job);
  if (state_ != State::opening) prepare();
}

void DeviceClient::prepare() {
  state_ = State::preparing;
  doing_.clear();
  worker_->set_deadline(Clock::now() + deadlines_.prepare);
  worker_->send(encode(*problem_));
}

void DeviceClient::start(TrialJob job, Chances chances) {
  trial_ = std::make_unique<StartedTrial>(StartedTrial{std::move(job), chances});
  send_trial();
}

void DeviceClient::set_limit(Clock::duration limit) {
  sent_ = Clock::now();
  limit_ = limit;
  worker_->set_deadline(sent_ + limit);
}

void DeviceClient::send_trial() {
  if (watch_) watch_(AttemptEvent::begins);
  state_ = State::running;
  trial_->checked = false;
  trial_->hurried = false;
  doing_.clear();
  // A proof is many checks, of which nothing is heard before the last.
  const bool is_proof = trial_->job.purpose == TrialPurpose::prove;
  Clock::duration limit = is_proof ? deadlines_.run_cap + kCheckSlack * longest_check_
                                   : run_limit(deadlines_, trial_->job.incumbent_ns) +
                                         kCheckSlack * longest_first_check_;
  if (backend_ == "opencl") limit += deadlines_.first_launch;
  if (!is_proof && deadlines_.first_run) limit = *deadlines_.first_run;
  set_limit(limit);
  (void)shorten_first_run();
  worker_->send(encode(trial_->job));
}

bool DeviceClient::hurry() {
  if (!hurried_at_) hurried_at_ = Clock::now();
  return trial_ != nullptr && state_ == State::running && !trial_->hurried && shorten_first_run();
}

bool DeviceClient::shorten_first_run() {
  const bool is_first_run =
      !trial_->checked && trial_->job.purpose == TrialPurpose::measure && hurried_at_;
  if (!is_first_run) return false;
  const auto end = std::max(*hurried_at_, sent_) + deadlines_.past_budget;
  if (end >= sent_ + limit_) return false;
  trial_->hurried = true;
  limit_ = end - sent_;
  worker_->set_deadline(end);
  return true;
}

std::optional<TrialReport> DeviceClient::step() {
  std::optional<TrialReport> report;
  try {
    while (const auto frame = worker_->receive()) handle(*frame, report);
  } catch (const InputError& error) {
    worker_->kill();  // it no longer makes sense
  }
  if (!worker_->alive()) {
    replace_dead(report);
  } else if (worker_->overdue()) {
    replace_overdue(report);
  }
  if (report && state_ == State::opening) held_ = std::exchange(report, std::nullopt);
  if (held_ && (state_ == State::idle || !waits_for_worker_))
    report = std::exchange(held_, std::nullopt);
  return report;
}

void require_timing(const MeasureOptions& options, const DeviceClient& device) {
  if (options.timing == Timing::eager || device.graphs_unavailable().empty()) return;
  throw DeviceError("--timing graph is not possible here: " + device.graphs_unavailable());
}

void DeviceClient::handle(const Frame& frame, std::optional<TrialReport>& report) {
  const std::string type = type_of(frame);
  if (type == Opened::kType) {
    Opened opened = decode<Opened>(frame);
    device_ = std::move(opened.device);
    energy_unavailable_ = std::move(opened.energy_unavailable);
    graphs_unavailable_ = std::move(opened.graphs_unavailable);
    state_ = State::idle;
    worker_->set_deadline(std::nullopt);
    if (problem_) prepare();
  } else if (type == ProblemReport::kType) {
    ProblemReport prepared = decode<ProblemReport>(frame);
    if (prepared.failure) host_.require_room(backend_);
    // It could be prepared before: the device is at fault, or who else uses it.
    if (prepared.failure && !reference_.empty()) {
      worker_->kill();
      count_failed_start(prepared.failure->message);
      return start_worker();
    }
    if (prepared.failure) {
      throw Error(ExitCode::failed,
                  "the problem cannot be prepared on the device: " + prepared.failure->message);
    }
    reference_ = std::move(prepared.reference);
    failed_starts_ = 0;
    state_ = State::idle;
    worker_->set_deadline(std::nullopt);
    if (trial_) send_trial();  // its first worker died
  } else if (type == Doing::kType) {
    doing_ = decode<Doing>(frame).what;
  } else if (type == Checked::kType && trial_) {
    trial_->checked = true;
    trial_->first_check = Clock::now() - sent_;
    const MeasureOptions& measure = problem_->measure;
    const double run_ns = decode<Checked>(frame).run_ns;
    const double expected = measure.stop.max_ns +
                            run_ns * static_cast<double>(measure.stop.min_samples) +
                            energy_ns(measure, run_ns);
    set_limit(run_limit(deadlines_, trial_->job.incumbent_ns) +
              nanoseconds(kMeasureSlack * expected) + kCheckSlack * longest_check_);
  } else if (type == TrialReport::kType && trial_) {
    handle_report(decode<TrialReport>(frame), report);
  } else if (type == FinalsReport::kType) {
    finals_ = decode<FinalsReport>(frame);
    if (finals_->failure) host_.require_room(backend_);
    state_ = State::idle;
    worker_->set_deadline(std::nullopt);
    if (finals_->failure && finals_->failure->sticky) {
      worker_->kill();
      start_worker();
    }
  } else if (type == Unavailable::kType) {
    const Unavailable unavailable = decode<Unavailable>(frame);
    // A device that was there may be busy for a moment with what its last worker left behind.
    if (!device_ && unavailable.code == ExitCode::no_device)
      throw TransientError(unavailable.code, unavailable.reason);
    // What the user wrote is as wrong in the next worker.
    if (!device_ || unavailable.code == ExitCode::bad_input)
      throw Error(unavailable.code, unavailable.reason);
    count_failed_start(unavailable.reason);
    start_worker();
  } else {
    worker_->kill();
  }
}

void DeviceClient::handle_report(TrialReport arrived, std::optional<TrialReport>& report) {
  if (arrived.failure) host_.require_room(backend_);
  const bool sticky = arrived.failure && arrived.failure->sticky;
  if (!arrived.failure) {
    longest_first_check_ = std::max(longest_first_check_, trial_->first_check);
    longest_check_ =
        std::max<Clock::duration>(longest_check_, std::chrono::nanoseconds(arrived.verify_ns));
    for (const double ns : arrived.samples.ns) longest_run_ns_ = std::max(longest_run_ns_, ns);
  }
  trial_.reset();
  state_ = State::idle;
  worker_->set_deadline(std::nullopt);
  report = std::move(arrived);
  if (sticky) {
    worker_->kill();
    start_worker();
  }
}

/// The report of a trial whose worker could not send one, with the time that it cost.
TrialReport DeviceClient::failed_trial(Outcome outcome, const std::string& message) const {
  TrialReport report;
  report.failure = Failure{outcome, message};
  (trial_->checked ? report.measure_ns : report.verify_ns) =
      std::chrono::nanoseconds(Clock::now() - sent_).count();
  return report;
}

std::string DeviceClient::doing_text(const std::string& lead) const {
  return doing_.empty() ? "" : lead + " " + doing_;
}

void DeviceClient::replace_overdue(std::optional<TrialReport>& report) {
  const State was = state_;
  worker_->kill();
  // A reference that never ends would not end in another worker either.
  if (was == State::preparing && reference_.empty()) {
    throw Error(ExitCode::failed,
                fmt::format("the problem cannot be prepared on the device: its arguments and "
                            "references were not there within {:.3g} s{}; a longer --seconds or "
                            "--first-run-seconds waits for longer",
                            seconds(deadlines_.prepare), doing_text("; it was")));
  }
  start_worker();
  if (was == State::opening || was == State::preparing) {
    count_failed_start(
        was == State::opening
            ? fmt::format("it did not open within {:.3g} s", seconds(deadlines_.open))
            : fmt::format("the problem was not prepared within {:.3g} s",
                          seconds(deadlines_.prepare)));
  } else if (trial_) {
    report = failed_trial(
        Outcome::run_timeout,
        fmt::format("{} did not finish within {:.3g} s and was killed{}{}{}",
                    trial_->checked ? "measuring" : "the first run", seconds(limit_),
                    trial_->hurried && !trial_->checked ? ": the time of the session was over" : "",
                    doing_text("; it was"), trial_->checked ? "" : " (--first-run-seconds)"));
    trial_.reset();
  } else {
    finals_.emplace().failure = Failure{Outcome::run_timeout, "the finals did not finish in time"};
  }
}

void DeviceClient::replace_dead(std::optional<TrialReport>& report) {
  const State was = state_;
  const std::string obituary = worker_->obituary();
  WorkerHost::require_system(obituary);
  // The device opened each time, so it is there.
  if (was == State::preparing && reference_.empty() && failed_starts_ + 1 == kMaxFailedStarts) {
    throw Error(ExitCode::failed,
                fmt::format("the problem cannot be prepared on the device: while it computed the "
                            "reference, {}, {} times in a row{}; a shape, grid or access of the "
                            "spec that is wrong does that",
                            obituary, kMaxFailedStarts, doing_text("; it was")));
  }
  start_worker();
  if (was == State::opening || was == State::preparing) {
    count_failed_start(obituary);
  } else if (trial_ && trial_->chances == Chances::two) {
    trial_->chances = Chances::one;  // blamed once; it runs again, first thing in the new worker
    if (watch_) watch_(AttemptEvent::death);
  } else if (trial_) {
    report = failed_trial(Outcome::device_fault, obituary + doing_text("; it was"));
    trial_.reset();
  } else if (was == State::running) {
    finals_.emplace().failure = Failure{Outcome::device_fault, obituary};
  }
}

void DeviceClient::count_failed_start(const std::string& reason) {
  if (++failed_starts_ < kMaxFailedStarts) return;
  if (!device_) {
    throw TransientError(ExitCode::no_device,
                         fmt::format("{}:{} does not come up: {}", backend_, ordinal_, reason));
  }
  throw TransientError(
      ExitCode::no_device, fmt::format("{}:{} is gone: {}", backend_, ordinal_, reason),
      "; what was measured is stored, and the same command goes on from there when the "
      "device is back");
}

std::optional<FinalsReport> DeviceClient::run_finals(const FinalsJob& job,
                                                     const std::atomic<bool>* stop) {
  const FinalsOptions& finals = job.rounds;
  finals_.reset();
  state_ = State::running;
  const double rounds = finals.energy ? static_cast<double>(finals.max_rounds) : 0;
  const double energy =
      energy_ns(problem_->measure, 0) * static_cast<double>(job.configs.size()) * rounds;
  worker_->set_deadline(Clock::now() + finals_limit(deadlines_, longest_run_ns_, job) +
                        nanoseconds(energy));
  worker_->send(encode(job));
  // Finals that a lost device ended are left to the next run, so they too wait for a new worker.
  while (!finals_ || state_ != State::idle) {
    WorkerProcess* worker = worker_.get();
    poll_workers({&worker, 1}, Clock::now() + std::chrono::seconds(1));
    (void)step();
    if (stop != nullptr && stop->load() && (!finals_ || finals_->failure)) {
      start_worker();  // in place of the one that is measuring
      return std::nullopt;
    }
  }
  return std::move(*finals_);
}

}  // namespace kiln
