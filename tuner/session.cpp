// The session loop, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "db/close_configs.hpp"
#include "db/shipped.hpp"
#include "search/prior.hpp"
#include "search/strategy.hpp"
#include "tuner/finalists.hpp"
#include "tuner/pipeline.hpp"
#include "tuner/session_log.hpp"
#include "tuner/worker_host.hpp"

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kStatePeriod{250};

std::string strategy_of(const TuneOptions& options) {
  return options.strategy.empty() ? strategies().front().name : options.strategy;
}

/// One a core, less one for the device worker where there are enough; a CPU device shares its cores
/// with the compilers, which then take turns with it anyway.
std::size_t compile_workers(const TuneOptions& options) {
  if (options.compile_workers > 0) return options.compile_workers;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return cores > 2 ? cores - 1 : cores;
}

std::uint64_t compile_memory_bytes(const TuneOptions& options) {
  if (options.compile_memory_bytes > 0) return options.compile_memory_bytes;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kMost;
  const std::uint64_t all =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  return std::clamp(all / 2 / compile_workers(options), kLeast, kMost);
}

std::unique_ptr<Strategy> new_strategy(const TuneRequest& request, const DeviceInfo& device,
                                       const Space& space) {
  const Prior prior(request.spec, request.problem, device);
  return make_strategy(strategy_of(request.options), space, request.options.seed, &prior);
}

/// What the store and the shipped bests know of problems and devices around.
std::vector<WarmConfig> find_warm_configs(const TuneRequest& request, const DeviceInfo& device,
                                          const Space& space, const Store& store) {
  if (!request.options.warm_start) return {};
  std::vector<BestRecord> bests = store.bests(request.spec.name);
  std::ranges::move(shipped_bests(request.spec.name), std::back_inserter(bests));
  std::vector<WarmConfig> warm = warm_configs(request.spec, request.problem, device, bests);
  const Config first = default_config(request.spec, request.problem, device);
  std::erase_if(warm, [&](const WarmConfig& each) {
    return each.config == first || !space.index_of(each.config);
  });
  return warm;
}

/// The variant whose default config is the naive figure; nullptr: the spec has none.
const Variant* naive_variant(const KernelSpec& spec) {
  if (const Variant* naive = spec.find_variant("naive")) return naive;
  const std::string& reference = spec.verify.device_reference;
  return spec.find_variant(reference.substr(0, reference.find(':')));
}

/// One run of a session, from the open device to the published best.
class SessionRun {
 public:
  SessionRun(const TuneRequest& request, SessionObserver& observer, WorkerHost& host,
             DeviceClient& device, const Space& space, SessionLog& log,
             const std::vector<WarmConfig>& warm)
      : request_(request),
        observer_(observer),
        space_(space),
        log_(log),
        warm_(warm),
        device_(device),
        strategy_(new_strategy(request, log.device(), space)),
        default_config_(default_config(request.spec, request.problem, log.device())),
        compilers_(host, {log.device(), compile_workers(request.options),
                          request.options.compile_deadline, compile_memory_bytes(request.options)}),
        pipeline_({request.spec, request.problem, log.device()}, compilers_, device) {}

  SessionEnd search();
  struct FinalsEnd {
    bool stopped = false;
    std::optional<BestRecord> best;
  };
  FinalsEnd run_finals();

 private:
  void take_up_stored_trials();
  void judge_open_attempts();
  void submit_first_configs();
  void submit_once(const Config& config);
  void feed();
  void record(const Trial& trial);
  [[nodiscard]] bool stopped() const {
    return request_.options.stop != nullptr && request_.options.stop->load();
  }
  [[nodiscard]] bool may_submit() const;
  [[nodiscard]] std::optional<SessionEnd> reached_limit() const;
  /// Empty: they could not be measured. nullopt: stopped. Finalists that gave a wrong result are
  /// taken out.
  [[nodiscard]] std::optional<std::vector<std::vector<double>>> measure_finalists(
      Finalists& finalists);
  [[nodiscard]] BestRecord make_best(const Finalists& finalists,
                                     const std::vector<std::vector<double>>& samples) const;

  const TuneRequest& request_;
  SessionObserver& observer_;
  const Space& space_;
  SessionLog& log_;
  const std::vector<WarmConfig>& warm_;
  DeviceClient& device_;
  std::unique_ptr<Strategy> strategy_;
  Config default_config_;
  CompilePool compilers_;
  TrialPipeline pipeline_;
  std::set<std::string> submitted_;  ///< canonical texts of configs stored or under way
  bool has_more_ = true;             ///< the strategy may still propose
};

void SessionRun::take_up_stored_trials() {
  for (const TrialRecord& stored : log_.trials()) {
    submitted_.insert(stored.trial.config.text());
    if (const auto index = space_.index_of(stored.trial.config))
      strategy_->tell(*index, stored.trial);
  }
}

/// A config on the device when an earlier run was killed may have been the killer. A worker's death
/// that was seen weighs more than an end without a word, which may have had any cause.
void SessionRun::judge_open_attempts() {
  constexpr std::int64_t kPatience = 3;
  for (const AttemptRecord& attempt : log_.open_attempts()) {
    if (submitted_.contains(attempt.config)) continue;  // its trial was stored after all
    const bool guilty = attempt.begun >= (attempt.deaths > 0 ? 2 : kPatience);
    if (guilty) {
      Trial trial;
      trial.config = parse_config(request_.spec, attempt.config, request_.problem, log_.device());
      trial.outcome = Outcome::device_fault;
      trial.message = fmt::format(
          "quarantined after {} attempts that came to no end, its worker seen to die in {} of "
          "them; "
          "--fresh tries it again",
          attempt.begun, attempt.deaths);
      submitted_.insert(attempt.config);
      record(trial);
    } else if (attempt.deaths > 0) {
      pipeline_.suspect(attempt.config);
    }
  }
}

void SessionRun::submit_once(const Config& config) {
  if (submitted_.insert(config.text()).second) pipeline_.submit(config);
}

/// The default config is trial 1; then comes what was good elsewhere, and the naive config, for the
/// figure that speed-ups are told against.
void SessionRun::submit_first_configs() {
  submit_once(default_config_);
  for (const WarmConfig& warm : warm_) {
    if (may_submit()) submit_once(warm.config);
  }
  const Variant* naive = naive_variant(request_.spec);
  const std::vector<std::string>& wanted = request_.options.variants;
  if (naive == nullptr || !may_submit()) return;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), naive->name) == wanted.end())
    return;
  const Config config = default_config(*naive, request_.spec, request_.problem, log_.device());
  if (space_.index_of(config)) submit_once(config);
}

bool SessionRun::may_submit() const {
  const auto& limit = request_.options.budget.trials;
  return !limit || static_cast<std::int64_t>(log_.trials().size() + pipeline_.in_flight()) < *limit;
}

void SessionRun::feed() {
  has_more_ = true;
  while (pipeline_.wants_more() && may_submit()) {
    const std::optional<std::size_t> index = strategy_->ask();
    if (!index) {
      has_more_ = false;
      return;
    }
    submit_once(space_.at(*index));
  }
}

void SessionRun::record(const Trial& trial) {
  const TrialRecord& stored = log_.append(trial);
  if (const auto index = space_.index_of(trial.config)) strategy_->tell(*index, trial);
  observer_.on_trial(stored, log_.progress(request_.options.budget, default_config_));
}

std::optional<SessionEnd> SessionRun::reached_limit() const {
  if (stopped()) return SessionEnd::interrupted;
  const auto limit = request_.options.budget.exhausted(log_.search_progress());
  if (!limit) return std::nullopt;
  switch (*limit) {
    case BudgetLimit::seconds:
      return SessionEnd::seconds;
    case BudgetLimit::trials:
      return SessionEnd::trials;
    case BudgetLimit::no_progress:
      break;
  }
  return SessionEnd::no_progress;
}

SessionEnd SessionRun::search() {
  pipeline_.set_watch(
      [this](const Config& config, AttemptEvent event) { log_.note(config, event); });
  take_up_stored_trials();
  judge_open_attempts();
  submit_first_configs();
  std::optional<SessionEnd> end;
  while (!(end = reached_limit())) {
    feed();
    if (pipeline_.in_flight() == 0 && !has_more_) end = SessionEnd::exhausted;
    if (end) break;
    for (const Trial& trial : pipeline_.step(Clock::now() + kStatePeriod, log_.best_ns()))
      record(trial);
    pipeline_.start_next(log_.best_ns());  // the device works while the strategy thinks
    observer_.on_state(pipeline_.activity(),
                       log_.progress(request_.options.budget, default_config_));
    log_.note_time();
  }
  pipeline_.drop_waiting();
  while (pipeline_.in_flight() > 0) {
    for (const Trial& trial : pipeline_.step(Clock::now() + kStatePeriod, log_.best_ns()))
      record(trial);
  }
  return *end;
}

std::optional<std::vector<std::vector<double>>> SessionRun::measure_finalists(
    Finalists& finalists) {
  std::vector<Config> configs;
  for (const TrialRecord* record : finalists.trials) configs.push_back(record->trial.config);
  observer_.on_finals(configs);
  std::optional<FinalsReport> report = pipeline_.run_finals(configs, request_.options.stop);
  if (!report) return std::nullopt;
  if (!report->failure) {
    for (std::size_t i = report->wrong.size(); i-- > 0;) {
      if (report->wrong[i].empty()) continue;
      observer_.on_warning(fmt::format("{} gave a wrong result in the finals and is out: {}",
                                       configs[i].text(), report->wrong[i]));
      remove_finalist(finalists, i);
      report->samples.erase(report->samples.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return std::move(report->samples);
  }
  observer_.on_warning("the finals failed, the samples of the search decide: " +
                       report->failure->message);
  return std::vector<std::vector<double>>();
}

SessionRun::FinalsEnd SessionRun::run_finals() {
  Finalists finalists = choose_finalists(log_.trials(), default_config_);
  if (finalists.trials.empty()) return {};
  std::optional<std::vector<std::vector<double>>> samples(std::in_place);
  if (finalists.trials.size() > 1) samples = measure_finalists(finalists);
  if (!samples) return {true, std::nullopt};
  if (finalists.trials.empty()) return {};  // none was right to the end
  return {false, make_best(finalists, *samples)};
}

BestRecord SessionRun::make_best(const Finalists& finalists,
                                 const std::vector<std::vector<double>>& samples) const {
  const bool measured = samples.size() == finalists.trials.size();
  FinalsVerdict verdict;
  if (measured) {
    verdict = judge_finals(samples, finalists.default_index);
  } else if (finalists.trials.size() == 1) {
    verdict = {0, finalists.default_index ? Verdict::tie : Verdict::better};
  } else {
    const auto faster = [](const auto* a, const auto* b) {
      return a->trial.time_ns < b->trial.time_ns;
    };
    const auto fastest = std::min_element(finalists.trials.begin(), finalists.trials.end(), faster);
    verdict = {static_cast<std::size_t>(fastest - finalists.trials.begin()), Verdict::unmeasurable};
  }
  const auto time_of = [&](std::size_t i) {
    return measured ? median(samples[i]) : finalists.trials[i]->trial.time_ns;
  };

  BestRecord best = log_.new_best();
  best.config = finalists.trials[verdict.winner]->trial.config;
  best.template_hash =
      template_hash(request_.spec, *request_.spec.find_variant(best.config.variant));
  best.time_ns = time_of(verdict.winner);
  best.default_time_ns = finalists.default_index ? time_of(*finalists.default_index) : 0;
  best.verdict = verdict.verdict;
  best.evidence =
      with_warm_start(with_close_configs(evidence_text(finalists, samples), log_.trials()), warm_);
  if (const Variant* naive = naive_variant(request_.spec)) {
    best.naive_time_ns =
        log_.time_of(default_config(*naive, request_.spec, request_.problem, log_.device()));
  }
  const ProblemCost cost = problem_cost(request_.spec, request_.problem, log_.device());
  best.bytes = cost.bytes;
  best.flops = cost.flops;
  return best;
}

ProblemJob problem_job(const TuneRequest& request) {
  return {request.spec.path,
          request.spec.text,
          request.spec.files,
          request.problem.fields(),
          request.options.seed,
          request.options.measure,
          request.options.max_cpu_operations,
          request.options.extra_operations};
}

}  // namespace

SessionResult tune(const TuneRequest& request, Store& store, SessionObserver& observer) {
  check(request.options.budget);
  WorkerHost host(request.options.worker_program);
  DeviceDeadlines deadlines = request.options.deadlines;
  deadlines.first_launch = request.options.compile_deadline;
  DeviceClient device(host, request.backend, request.ordinal, deadlines);
  const DeviceInfo info = device.open();
  const Space space = Space::build(request.spec, request.problem, info, {request.options.variants});

  SessionLog log(store, request, strategy_of(request.options), info, space);
  if (log.answers(request.options.budget)) return log.result(SessionEnd::stored);
  device.set_problem(problem_job(request));
  const std::vector<WarmConfig> warm = find_warm_configs(request, info, space, store);
  SessionRun run(request, observer, host, device, space, log, warm);
  log.begin();
  observer.on_start({log.id(), info, static_cast<std::int64_t>(space.size()),
                     static_cast<std::int64_t>(log.trials().size()), strategy_of(request.options),
                     warm});
  try {
    SessionEnd end = run.search();
    SessionRun::FinalsEnd finals;
    if (end != SessionEnd::interrupted) finals = run.run_finals();
    if (finals.stopped) end = SessionEnd::interrupted;
    log.finish(end == SessionEnd::interrupted ? SessionState::interrupted : SessionState::finished,
               finals.best);
    SessionResult result = log.result(end);
    result.warm = warm;
    return result;
  } catch (const DatabaseError&) {
    throw;  // nothing more can be written
  } catch (...) {
    log.finish(SessionState::interrupted, std::nullopt);
    throw;
  }
}

}  // namespace kiln
