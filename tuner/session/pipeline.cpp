// Moves candidates from their launch plan through the compilers and the device to their trials.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/metrics.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"

namespace kiln {
namespace {

// Sources prepared beyond one for each compile worker; binaries that may wait for the device beyond
// one for two of them.
constexpr std::size_t kAhead = 2;
// Configs that may wait for each of these sources: where configs differ in their launches alone,
// few sources stand for many of them.
constexpr std::size_t kMostWaiting = 2;
// Binaries kept for other configs of the same source and for the finals.
constexpr std::size_t kKeptBinaryBytes = std::size_t{256} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t whole_ns_since(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

void set_failure(Trial& trial, const Failure& failure) {
  trial.outcome = failure.outcome;
  trial.message = failure.message;
  trial.time_ns = 0;
}

}  // namespace

TrialPipeline::TrialPipeline(Setting setting, CompilePool& compilers, DeviceClient& device)
    : setting_(std::move(setting)),
      renderer_(setting_.spec()),
      prior_(setting_),
      compilers_(compilers),
      device_(device) {
  use_.compile_workers = static_cast<std::int64_t>(compilers.worker_count());
}

void TrialPipeline::set_watch(Watch watch) {
  device_.set_watch([this, watch = std::move(watch)](AttemptEvent event) {
    if (running_) watch(running_->trial.config, event);
  });
}

bool TrialPipeline::wants_more() const {
  const std::size_t workers = compilers_.worker_count();
  // On a CPU device compilers and measuring take turns: what is ready will not be waited for.
  if (setting_.device().is_cpu) return waiting_.size() < workers + kAhead;
  std::set<std::string_view> compiling;
  std::size_t ready = 0;
  for (const Candidate& candidate : waiting_) {
    if (builds_.at(candidate.trial.source_key).done) {
      ++ready;
    } else {
      compiling.insert(candidate.trial.source_key);
    }
  }
  return compiling.size() < workers + kAhead && ready < workers / 2 + kAhead &&
         waiting_.size() < kMostWaiting * (workers + kAhead);
}

void TrialPipeline::submit(const Config& config) {
  const auto start = Clock::now();
  Candidate candidate = make_candidate(config);
  use_.render += seconds_since(start);
  const bool is_first = submitted_++ == 0;
  if (!candidate.trial.ok()) {
    failed_.push_back(std::move(candidate.trial));
    first_is_out_ |= is_first;
    return;
  }
  request_build(candidate);
  waiting_.push_back(std::move(candidate));
}

/// Plans and renders; a trial that is not ok afterwards is finished.
TrialPipeline::Candidate TrialPipeline::make_candidate(const Config& config) const {
  Candidate candidate;
  Trial& trial = candidate.trial;
  trial.config = config;
  const auto start = Clock::now();
  try {
    if (const Result<LaunchPlan> plan = setting_.plan(config); !plan) {
      set_failure(trial, plan.failure());
      return candidate;
    }
    candidate.source = renderer_.render(setting_, config);
  } catch (const InputError& error) {
    set_failure(trial, {Outcome::compile_error, error.what()});
    return candidate;
  }
  trial.cost.render_ns = whole_ns_since(start);
  trial.source_key = binary_key(candidate.source, setting_.device().backend,
                                setting_.device().architecture, setting_.device().compiler);
  return candidate;
}

void TrialPipeline::request_build(Candidate& candidate) {
  const auto [build, is_new] = builds_.try_emplace(candidate.trial.source_key);
  if (is_new) compilers_.submit(build->first, std::move(candidate.source));
  candidate.source = {};
}

void TrialPipeline::take_compiled() {
  for (CompilePool::Compiled& compiled : compilers_.step()) {
    Build& build = builds_[compiled.key];
    build.done = true;
    build.failure = std::move(compiled.report.failure);
    build.compile_ns = compiled.report.compile_ns;
    build.done_at = Clock::now();
    use_.compile += 1e-9 * static_cast<double>(build.compile_ns);
    if (build.failure) continue;
    build_bytes_ += compiled.report.binary.data.size();
    build_order_.push_back(compiled.key);
    build.binary = std::make_shared<const Binary>(std::move(compiled.report.binary));
  }
}

/// Drops the oldest binaries that nobody waits for.
void TrialPipeline::forget_old_builds() {
  auto key = build_order_.begin();
  while (build_bytes_ > kKeptBinaryBytes && key != build_order_.end()) {
    const auto needs_it = [&](const Candidate& candidate) {
      return candidate.trial.source_key == *key;
    };
    if (std::any_of(waiting_.begin(), waiting_.end(), needs_it)) {
      ++key;
      continue;
    }
    build_bytes_ -= builds_.at(*key).binary->data.size();
    builds_.erase(*key);
    key = build_order_.erase(key);
  }
}

/// Compile time and resources of the build; the time counts for the first config that uses it.
void TrialPipeline::book_build(Trial& trial, Build& build) {
  if (!build.charged) trial.cost.compile_ns = build.compile_ns;
  build.charged = true;
  if (!build.binary) return;
  trial.registers = build.binary->registers;
  trial.spill_bytes = build.binary->spill_bytes;
  trial.shared_bytes = build.binary->shared_bytes;
}

bool TrialPipeline::may_start(bool is_front) const {
  if (running_ || !device_.idle()) return false;
  if (setting_.device().is_cpu && compilers_.busy()) return false;
  return first_is_out_ || is_front;
}

/// On a CPU device compilers would take the very cores that are being measured: they take turns.
void TrialPipeline::keep_cores_free() {
  if (!setting_.device().is_cpu) return;
  const auto is_ready = [&](const Candidate& candidate) {
    return builds_.at(candidate.trial.source_key).done;
  };
  const bool front_waits = !waiting_.empty() && is_ready(waiting_.front()) && device_.idle();
  compilers_.hold(running_ != nullptr || front_waits);
}

void TrialPipeline::move_candidates(double incumbent_ns) {
  for (auto candidate = waiting_.begin(); candidate != waiting_.end();) {
    Build& build = builds_.at(candidate->trial.source_key);
    if (build.done && build.failure) {
      book_build(candidate->trial, build);
      set_failure(candidate->trial, *build.failure);
      // The first config keeps its place at the front of what comes out.
      const bool is_first = !first_is_out_ && !running_ && candidate == waiting_.begin();
      failed_.insert(is_first ? failed_.begin() : failed_.end(), std::move(candidate->trial));
      first_is_out_ |= is_first;
      candidate = waiting_.erase(candidate);
    } else {
      ++candidate;
    }
  }
  const auto next = next_candidate();
  if (next == waiting_.end()) return;
  Build& build = builds_.at(next->trial.source_key);
  book_build(next->trial, build);
  start_on_device(std::move(*next), build, incumbent_ns);
  waiting_.erase(next);
}

bool TrialPipeline::looks_hopeless(Candidate& candidate, const Build& build) {
  if (setting_.device().is_cpu) return false;  // it has no registers to run out of
  if (!candidate.forecast) {
    candidate.forecast = prior_.forecast(candidate.trial.config, *build.binary);
    if (!candidate.forecast) return false;
    hopes_.add(*candidate.forecast);
  }
  return hopes_.is_hopeless(*candidate.forecast);
}

std::deque<TrialPipeline::Candidate>::iterator TrialPipeline::next_candidate() {
  auto last = waiting_.end();
  for (auto candidate = waiting_.begin(); candidate != waiting_.end(); ++candidate) {
    const Build& build = builds_.at(candidate->trial.source_key);
    if (!build.done || build.failure || !may_start(candidate == waiting_.begin())) continue;
    if (!looks_hopeless(*candidate, build)) return candidate;
    if (last == waiting_.end()) last = candidate;
  }
  return last;
}

/// What the device waited for since its last config; before its first one it was being prepared.
void TrialPipeline::count_idle_time(const Build& build) {
  const auto now = Clock::now();
  const auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  if (use_.device == 0) {
    use_.prepare += seconds(now - turned_);
  } else {
    const auto ready = std::clamp(build.done_at, turned_, now);
    use_.device_no_binary += seconds(ready - turned_);
    use_.device_supervisor += seconds(now - ready);
  }
  turned_ = now;
}

void TrialPipeline::count_busy_time(const TrialReport& report, const Trial& trial) {
  constexpr double kPlainRuns = 32;
  use_.device += seconds_since(turned_);
  turned_ = Clock::now();
  use_.verify += 1e-9 * static_cast<double>(report.verify_ns);
  use_.measure += 1e-9 * static_cast<double>(report.measure_ns);
  if (!trial.ok()) return;
  use_.gpu_runs += 1e-9 * trial.time_ns * static_cast<double>(report.runs);
  use_.gpu_plain += 1e-9 * trial.time_ns * kPlainRuns;
}

void TrialPipeline::start_on_device(Candidate candidate, const Build& build, double incumbent_ns) {
  count_idle_time(build);
  const bool suspected = suspects_.contains(candidate.trial.config.text());
  running_ = std::make_unique<Candidate>(std::move(candidate));
  device_.start({running_->trial.config, *build.binary, incumbent_ns},
                suspected ? DeviceClient::Chances::one : DeviceClient::Chances::two);
}

void TrialPipeline::finish_on_device(TrialReport report) {
  Trial trial = std::move(running_->trial);
  running_.reset();
  if (report.proven) proven_.insert(trial.config.text());
  trial.max_error = report.max_error;
  trial.cost.verify_ns = report.verify_ns;
  trial.cost.measure_ns = report.measure_ns;
  trial.samples = std::move(report.samples);
  if (report.energy_j) trial.metrics.emplace(kEnergyObjective, *report.energy_j);
  if (report.failure) {
    set_failure(trial, *report.failure);
  } else {
    trial.time_ns = median(trial.samples.ns);
  }
  count_busy_time(report, trial);
  finished_.push_back(std::move(trial));
  first_is_out_ = true;
}

std::vector<Trial> TrialPipeline::step(Clock::time_point until, double incumbent_ns) {
  const auto advance = [&] {
    take_compiled();
    if (auto report = device_.step()) finish_on_device(std::move(*report));
    // A finished trial is stored before the next one starts: a kill never costs two.
    if (finished_.empty()) move_candidates(incumbent_ns);
    keep_cores_free();
    forget_old_builds();
    if (waiting_.empty() && !running_)
      first_is_out_ = true;  // nothing is left that could come first
    if (first_is_out_) {
      std::move(failed_.begin(), failed_.end(), std::back_inserter(finished_));
      failed_.clear();
    }
  };
  advance();
  if (finished_.empty()) {
    wait(until);
    advance();
  }
  return std::exchange(finished_, {});
}

const Config* TrialPipeline::choose_next() {
  take_compiled();
  const auto candidate = next_candidate();
  if (candidate == waiting_.end()) return nullptr;
  std::rotate(waiting_.begin(), candidate, std::next(candidate));
  next_is_chosen_ = true;
  return &waiting_.front().trial.config;
}

bool TrialPipeline::has_report() {
  if (!running_) return false;
  WorkerProcess* worker = device_.worker();
  poll_workers({&worker, 1}, Clock::now());
  return worker->has_frame() || !worker->alive();
}

void TrialPipeline::start_next(double incumbent_ns) {
  if (!std::exchange(next_is_chosen_, false)) take_compiled();
  move_candidates(incumbent_ns);
}

void TrialPipeline::wait(Clock::time_point until) {
  std::vector<WorkerProcess*> workers = {device_.worker()};
  compilers_.append_workers(workers);
  constexpr std::chrono::milliseconds kGlance{5};  // at the slots of other sessions
  if (compilers_.starved()) until = std::min(until, Clock::now() + kGlance);
  poll_workers(workers, until);
}

void TrialPipeline::drop_waiting() {
  device_.report_at_once();
  waiting_.clear();
  compilers_.cancel();
  compilers_.hold(false);
  std::erase_if(builds_, [](const auto& build) { return !build.second.done; });
  if (!first_is_out_ && !running_) failed_.clear();  // nothing may come out before the first config
}

bool TrialPipeline::await_turn(const Candidate& candidate, const std::atomic<bool>* stop) {
  while (!builds_.at(candidate.trial.source_key).done || !device_.idle()) {
    if (stop != nullptr && stop->load()) return false;
    wait(Clock::now() + std::chrono::seconds(1));
    take_compiled();
    (void)device_.step();
  }
  return true;
}

std::optional<TrialPipeline::Unproven> TrialPipeline::prove(const std::vector<Config>& configs,
                                                            double incumbent_ns,
                                                            const std::atomic<bool>* stop) {
  std::vector<Candidate> candidates;
  Unproven unproven;
  std::set<std::string> seen = proven_;
  for (const Config& config : configs) {
    if (!seen.insert(config.text()).second) continue;
    candidates.push_back(make_candidate(config));
    Trial& trial = candidates.back().trial;
    if (trial.ok()) {
      request_build(candidates.back());
    } else {
      unproven[config.text()] = Failure{trial.outcome, trial.message};
      candidates.pop_back();
    }
  }
  for (Candidate& candidate : candidates) {
    const std::string name = candidate.trial.config.text();
    std::optional<Failure> failure;
    // It was right in the search: what is no wrong result may have come from outside, once.
    for (int chance = 0; chance < 2; ++chance) {
      if (!await_turn(candidate, stop)) return std::nullopt;
      const Build& build = builds_.at(candidate.trial.source_key);
      failure = build.failure ? build.failure : prove_once(candidate, *build.binary, incumbent_ns);
      if (!failure || build.failure || failure->outcome == Outcome::wrong_result) break;
    }
    if (failure) {
      unproven[name] = std::move(*failure);
    } else {
      proven_.insert(name);
    }
  }
  return unproven;
}

std::optional<Failure> TrialPipeline::prove_once(const Candidate& candidate, const Binary& binary,
                                                 double incumbent_ns) {
  device_.start({candidate.trial.config, binary, incumbent_ns, TrialPurpose::prove});
  std::optional<TrialReport> report;
  while (!(report = device_.step())) {
    wait(Clock::now() + std::chrono::seconds(1));
    take_compiled();  // news from a compiler would end every wait at once
  }
  return std::move(report->failure);
}

std::optional<Result<FinalsJob>> TrialPipeline::make_finals(const std::vector<Config>& configs,
                                                            const std::atomic<bool>* stop) {
  FinalsJob job;
  std::vector<Candidate> candidates;
  for (const Config& config : configs) {
    Candidate candidate = make_candidate(config);
    if (!candidate.trial.ok()) return Failure{candidate.trial.outcome, candidate.trial.message};
    request_build(candidate);
    candidates.push_back(std::move(candidate));
  }
  for (Candidate& candidate : candidates) {
    if (!await_turn(candidate, stop)) return std::nullopt;
    const Build& build = builds_.at(candidate.trial.source_key);
    if (build.failure) return *build.failure;
    job.configs.push_back(std::move(candidate.trial.config));
    job.binaries.push_back(*build.binary);
  }
  return job;
}

std::optional<FinalsReport> TrialPipeline::run_finals(const std::vector<Config>& configs,
                                                      const FinalsOptions& rounds,
                                                      const std::atomic<bool>* stop,
                                                      const Rival& rival) {
  std::optional<Result<FinalsJob>> job = make_finals(configs, stop);
  if (!job) return std::nullopt;
  if (!*job) {
    FinalsReport report;
    report.failure = job->failure();
    return report;
  }
  (*job)->rounds = rounds;
  (*job)->against = rival.library;
  (*job)->other_cache = rival.other_cache;
  return device_.run_finals(**job, stop);
}

std::optional<FinalsReport> TrialPipeline::run_again(const Config& config,
                                                     const FinalsOptions& rounds,
                                                     const std::atomic<bool>* stop) {
  if (running_ || !device_.idle() || (setting_.device().is_cpu && compilers_.busy())) {
    return std::nullopt;
  }
  Candidate candidate = make_candidate(config);
  if (!candidate.trial.ok()) return std::nullopt;
  request_build(candidate);  // for the next time, where it is not at hand
  const Build& build = builds_.at(candidate.trial.source_key);
  if (!build.done || build.failure) return std::nullopt;
  return device_.run_finals({{config}, {*build.binary}, rounds, {}, false}, stop);
}

const Config* TrialPipeline::hurry() {
  return device_.hurry() && running_ ? &running_->trial.config : nullptr;
}

std::string TrialPipeline::activity() const {
  if (running_) return "running " + running_->trial.config.text();
  if (device_.reference().empty())
    return device_.doing().empty() ? "preparing inputs and reference"
                                   : "preparing: " + device_.doing();
  if (!waiting_.empty()) return "compiling " + waiting_.front().trial.config.text();
  return "searching";
}

}  // namespace kiln
