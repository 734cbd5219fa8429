// Feeds the pipeline with configs of the strategy, stores each trial, and ends by the budget.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "search/strategy.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/recorded_arrays.hpp"
#include "tuner/rules/drawn_scalars.hpp"
#include "tuner/rules/problem_limits.hpp"
#include "tuner/session/earlier_trials.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/published_best.hpp"
#include "tuner/session/session_finals.hpp"
#include "tuner/session/session_log.hpp"
#include "tuner/session/session_setup.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kStatePeriod{250};

/// Adds the seconds of its own life to `total`.
class TimeShare {
 public:
  explicit TimeShare(double& total) : total_(total) {}
  ~TimeShare() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  TimeShare(const TimeShare&) = delete;

 private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

/// Whether a trial of the variants that were asked for was `ok`.
bool has_wanted(const TuneOptions& options, const SessionLog& log) {
  const std::vector<std::string>& wanted = options.variants;
  return std::ranges::any_of(log.trials(), [&](const TrialRecord& record) {
    const std::string& variant = record.trial.config.variant;
    return record.trial.ok() &&
           (wanted.empty() || std::ranges::find(wanted, variant) != wanted.end());
  });
}

/// One run of a session, from the open device to the published best.
class SessionRun {
 public:
  SessionRun(const TuneRequest& request, SessionObserver& observer, WorkerHost& host,
             DeviceClient& device, const Space& space, const Scoring& scoring, SessionLog& log,
             const std::vector<WarmConfig>& warm, const EarlierTrials& earlier)
      : request_(request),
        observer_(observer),
        space_(space),
        scoring_(scoring),
        log_(log),
        warm_(warm),
        earlier_(earlier),
        device_(device),
        strategy_(new_strategy(request.options, log.setting(), space)),
        default_config_(log.setting().default_config()),
        compilers_(host, compile_options(request.options, log.setting().device())),
        pipeline_(log.setting(), compilers_, device),
        schedule_(request.options.drift) {}

  SessionEnd search();
  [[nodiscard]] double prepare_seconds() const { return pipeline_.time_use().prepare; }
  /// After search().
  FinalsEnd run_finals() {
    if (log_.tried_only_default() || !has_wanted(request_.options, log_)) return {};
    SessionFinals finals(request_, observer_, scoring_, log_, pipeline_, default_config_);
    FinalsEnd end = finals.run();
    if (!end.best) return end;
    add_warm_start(end.evidence, warm_);
    if (!earlier_.trials.empty()) {
      end.evidence.earlier = {earlier_.session, static_cast<std::int64_t>(earlier_.trials.size())};
    }
    const Config& best = end.best->config;
    end.evidence.source = Renderer(log_.setting().spec(), best.variant)
                              .source_hash(log_.setting(), best)
                              .value_or("");
    end.evidence.time_use = time_use();
    end.evidence.not_tried = not_tried(log_.setting());
    end.best->evidence = to_text(end.evidence);
    return end;
  }

 private:
  void take_up_stored_trials();
  void claim_earlier_trials();
  void take_earlier_trials();
  void judge_open_attempts();
  void submit_first_configs();
  void submit_once(const Config& config);
  void feed();
  enum class Then { start_next, wait };  ///< what the device does once the trial is stored
  void record(Trial trial, Then then);
  void record_all(const std::vector<Trial>& trials);
  void warn_of_default(const Trial& trial);
  const TrialRecord& store(const Trial& trial, const Config* next);
  void watch_drift();
  void hurry();
  void tell_of_preparing() const;
  [[nodiscard]] bool time_is_over() const;
  [[nodiscard]] TimeUse time_use() const;
  [[nodiscard]] bool stopped() const {
    return request_.options.stop != nullptr && request_.options.stop->load();
  }
  [[nodiscard]] bool may_submit() const;
  [[nodiscard]] std::optional<SessionEnd> reached_limit() const;
  const TuneRequest& request_;
  SessionObserver& observer_;
  const Space& space_;
  const Scoring& scoring_;
  SessionLog& log_;
  const std::vector<WarmConfig>& warm_;
  const EarlierTrials& earlier_;
  bool took_earlier_ = false;
  DeviceClient& device_;
  std::unique_ptr<Strategy> strategy_;
  Config default_config_;
  CompilePool compilers_;
  TrialPipeline pipeline_;
  std::set<std::string> submitted_;  ///< canonical texts of configs stored or under way
  bool has_more_ = true;             ///< the strategy may still propose
  DriftSchedule schedule_;
  TimeUse use_;  ///< what the supervisor does itself
};

void SessionRun::take_up_stored_trials() {
  for (const TrialRecord& stored : log_.trials()) {
    submitted_.insert(stored.trial.config.text());
    if (const auto index = space_.index_of(stored.trial.config))
      strategy_->tell(*index, log_.judged(stored).trial);
  }
}

/// Earlier trials are stored behind the default config, which is trial 1: theirs, or the one that
/// is to be made.
void SessionRun::claim_earlier_trials() {
  for (const Trial& trial : earlier_.trials) submitted_.insert(trial.config.text());
  const auto first = std::ranges::find(earlier_.trials, default_config_, &Trial::config);
  if (first == earlier_.trials.end()) return;
  record(*first, Then::wait);
}

void SessionRun::take_earlier_trials() {
  took_earlier_ = true;
  for (Trial trial : earlier_.trials) {
    if (trial.config == default_config_) continue;
    trial.metrics = scoring_.metrics().of(trial);
    const TrialRecord& stored = store(trial, nullptr);
    if (const auto index = space_.index_of(trial.config))
      strategy_->tell(*index, log_.judged(stored).trial);
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
      trial.config = log_.setting().parse(attempt.config);
      trial.outcome = Outcome::device_fault;
      trial.message = fmt::format(
          "quarantined after {} attempts that came to no end, its worker seen to die in {} of "
          "them; --fresh tries it again",
          attempt.begun, attempt.deaths);
      submitted_.insert(attempt.config);
      record(trial, Then::wait);
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
  const std::optional<Config> naive = naive_config(log_.setting());
  if (!naive || !may_submit()) return;
  const std::vector<std::string>& wanted = request_.options.variants;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), naive->variant) == wanted.end())
    return;
  if (space_.index_of(*naive)) submit_once(*naive);
}

bool SessionRun::may_submit() const {
  const auto& limit = request_.options.budget.trials;
  return !limit || static_cast<std::int64_t>(log_.trials().size() + pipeline_.in_flight()) < *limit;
}

void SessionRun::feed() {
  has_more_ = true;
  // A device that waits goes first: what it is waiting for is compiled already.
  while (pipeline_.wants_more() && may_submit() && !pipeline_.has_report()) {
    std::optional<std::size_t> index;
    {
      const TimeShare asking(use_.ask);
      index = strategy_->ask();
    }
    if (!index) {
      has_more_ = false;
      return;
    }
    submit_once(space_.at(*index));
  }
}

const TrialRecord& SessionRun::store(const Trial& trial, const Config* next) {
  const TimeShare storing(use_.store);
  return log_.append(trial, next);
}

void SessionRun::record(Trial trial, Then then) {
  trial.metrics = scoring_.metrics().of(trial);
  const Config* next = nullptr;
  std::exception_ptr trouble;  // of the compilers: the trial is measured and must not be lost
  try {
    if (then == Then::start_next) next = pipeline_.choose_next();
  } catch (...) {
    trouble = std::current_exception();
  }
  const TrialRecord& stored = store(trial, next);
  if (trouble) std::rethrow_exception(trouble);
  if (next != nullptr) pipeline_.start_next(log_.best_ns());
  if (const auto index = space_.index_of(trial.config)) {
    const TimeShare telling(use_.tell);
    strategy_->tell(*index, log_.judged(stored).trial);
  }
  observer_.on_trial(stored, log_.progress(request_.options.budget, default_config_));
  warn_of_default(trial);
  if (!took_earlier_) take_earlier_trials();
}

/// Where not even the default config runs, its message says most likely why others do not.
void SessionRun::warn_of_default(const Trial& trial) {
  if (trial.outcome == Outcome::ok || trial.config != default_config_) return;
  observer_.on_warning(fmt::format("the default config {} failed ({}): {}", trial.config.text(),
                                   name_of(trial.outcome),
                                   trial.message.substr(0, trial.message.find('\n'))));
}

/// Once the last of them is stored the device goes on, while the strategy learns from it.
void SessionRun::record_all(const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    const bool is_last = &trial == &trials.back();
    const bool is_free = is_last && !schedule_.due(log_.run_seconds()) && !time_is_over();
    record(trial, is_free ? Then::start_next : Then::wait);
  }
}

/// Measures the leader again, when that is due and nothing else is on the device.
void SessionRun::watch_drift() {
  const TrialRecord* leader = log_.leader();
  if (leader == nullptr || !schedule_.due(log_.run_seconds())) return;
  const auto start = Clock::now();
  constexpr FinalsOptions kRounds = {8, 24, 20e6, false};
  const std::optional<FinalsReport> report =
      pipeline_.run_again(leader->trial.config, kRounds, request_.options.stop);
  if (!report) return;
  const auto took = Clock::now() - start;
  schedule_.done(log_.run_seconds(), std::chrono::duration<double>(took).count());
  if (report->failure || report->samples.size() != 1) return;  // the finals will see it
  DriftRecord drift = compare_with_then(leader->trial.samples.ns, report->samples.front());
  drift.config = leader->trial.config.text();
  drift.took_ns = std::chrono::nanoseconds(took).count();
  log_.add_drift(std::move(drift));
}

std::optional<SessionEnd> SessionRun::reached_limit() const {
  if (stopped()) return SessionEnd::interrupted;
  const auto limit = request_.options.budget.exhausted(log_.search_progress());
  if (!limit) return std::nullopt;
  switch (*limit) {
    case BudgetLimit::seconds:
      // Preparing may have taken all of them: the default config is tried whatever they were.
      if (log_.trials().empty()) return std::nullopt;
      return SessionEnd::seconds;
    case BudgetLimit::trials:
      return SessionEnd::trials;
    case BudgetLimit::target:
      return SessionEnd::target;
    case BudgetLimit::no_progress:
      break;
  }
  return SessionEnd::no_progress;
}

bool SessionRun::time_is_over() const {
  return request_.options.budget.exhausted(log_.search_progress()) == BudgetLimit::seconds;
}

/// A kernel that does not end must not hold a session whose time is over, or that was interrupted.
void SessionRun::hurry() {
  const bool is_over = time_is_over();
  if (!is_over && !stopped()) return;
  const Config* config = pipeline_.hurry();
  if (config == nullptr) return;
  const std::chrono::duration<double> left = request_.options.deadlines.past_budget;
  observer_.on_warning(
      fmt::format("{}: waiting up to {:.3g} s for the first run of {} (--first-run-seconds)",
                  is_over ? "the time is over" : "interrupted", left.count(), config->text()));
}

/// Says so where preparing took more than half of a session.
void SessionRun::tell_of_preparing() const {
  const std::optional<double>& seconds = request_.options.budget.seconds;
  const double prepare = pipeline_.time_use().prepare;
  if (!seconds || prepare <= *seconds / 2) return;
  observer_.on_warning(fmt::format(
      "preparing inputs and the reference ({}) took {:.3g} s of the session's {:.3g} s; a longer "
      "--seconds, or a device_reference in [verify], leaves more of it for trials",
      device_.reference(), prepare, *seconds));
}

TimeUse SessionRun::time_use() const {
  TimeUse use = pipeline_.time_use();
  use.search = use_.search;
  use.ask = use_.ask;
  use.store = use_.store;
  use.tell = use_.tell;
  return use;
}

SessionEnd SessionRun::search() {
  const TimeShare searching(use_.search);
  pipeline_.set_watch([this](const Config& config, AttemptEvent event) {
    const TimeShare storing(use_.store);
    log_.note(config, event);
  });
  take_up_stored_trials();
  judge_open_attempts();
  claim_earlier_trials();
  submit_first_configs();
  std::optional<SessionEnd> end;
  while (!(end = reached_limit())) {
    feed();
    if (pipeline_.in_flight() == 0 && !has_more_) {
      end = space_.is_exact() ? SessionEnd::exhausted : SessionEnd::none_found;
    }
    if (end) break;
    hurry();
    record_all(pipeline_.step(Clock::now() + kStatePeriod, log_.best_ns()));
    watch_drift();
    // The device works while the strategy thinks.
    if (!time_is_over()) pipeline_.start_next(log_.best_ns());
    observer_.on_state(pipeline_.activity(),
                       log_.progress(request_.options.budget, default_config_));
    log_.note_time();
  }
  pipeline_.drop_waiting();
  while (pipeline_.in_flight() > 0) {
    hurry();
    for (const Trial& trial : pipeline_.step(Clock::now() + kStatePeriod, log_.best_ns()))
      record(trial, Then::wait);
  }
  tell_of_preparing();
  // The last configs may have come in after the limit was reached.
  if (*end != SessionEnd::interrupted && log_.tried_every_config()) return SessionEnd::exhausted;
  return *end;
}

/// What ended the session is what its user is told. If the database cannot be written either, the
/// session stays `running`, as after a kill.
void mark_interrupted(SessionLog& log) {
  try {
    log.finish(SessionState::interrupted, std::nullopt);
  } catch (const Error&) {
  }
}

/// What the session found, whether it ran now or is answered from the store.
SessionResult result_of(const TuneRequest& request, const SessionLog& log, SessionEnd end) {
  SessionResult result = log.result(end);
  if (result.best || !has_wanted(request.options, log)) return result;
  result.so_far = log.so_far();
  if (!result.so_far) return result;
  const ProblemCost cost = log.setting().cost();
  result.so_far->bytes = cost.bytes;
  result.so_far->flops = cost.flops;
  return result;
}

/// A damaged file stops here, before there is a session.
void require_recorded_arrays(const Setting& setting) {
  if (const Result<LaunchPlan> plan = setting.arguments())
    static_cast<void>(read_recorded(setting.spec(), setting.problem(), *plan));
}

/// A session whose best was to run against a library that was not there goes on with its finals.
bool is_answered(const TuneRequest& request, const SessionLog& log) {
  if (!log.answers(request.options.budget)) return false;
  const std::optional<BestRecord> best = log.result(SessionEnd::stored).best;
  return request.options.against.empty() || !best || read_evidence(best->evidence).rival;
}

}  // namespace

SessionResult tune(const TuneRequest& request, Store& store, SessionObserver& observer) {
  check(request.options.budget);
  require_used_tunables(request.spec);
  WorkerHost host(request.options.worker_program);
  host.require_room(request.backend);
  DeviceClient device(host, request.backend, request.ordinal, session_deadlines(request));
  const DeviceInfo info = device.open();
  const Setting setting(request.spec, request.problem, info);
  require_problem_fits(setting);
  const Space space = Space::build(setting, {request.options.variants});

  const Scoring scoring(setting, request.options.objective);
  require_meter(scoring.objective(), request.options, device);
  require_timing(request.options.measure, device);
  require_recorded_arrays(setting);
  const std::unique_ptr<SessionLog> opened = open_log(store, request, setting, space, scoring);
  SessionLog& log = *opened;
  if (is_answered(request, log)) return result_of(request, log, SessionEnd::stored);
  device.set_problem(session_job(request, scoring.objective()));
  const std::vector<WarmConfig> warm = find_warm_configs(request.options, setting, space, store);
  EarlierTrials earlier;
  if (!request.options.fresh && log.trials().empty())
    earlier = find_earlier_trials(request, log, space, store);
  SessionRun run(request, observer, host, device, space, scoring, log, warm, earlier);
  log.begin();
  observer.on_start({log.id(), info, static_cast<std::int64_t>(space.size()),
                     static_cast<std::int64_t>(log.trials().size()), strategy_of(request.options),
                     warm, earlier.session, static_cast<std::int64_t>(earlier.trials.size()),
                     earlier.others});
  try {
    SessionEnd end = run.search();
    FinalsEnd finals;
    if (end != SessionEnd::interrupted) finals = run.run_finals();
    if (finals.stopped) end = SessionEnd::interrupted;
    log.finish(end == SessionEnd::interrupted ? SessionState::interrupted : SessionState::finished,
               finals.best);
    SessionResult result = result_of(request, log, end);
    result.prepare_seconds = run.prepare_seconds();
    result.warm = warm;
    result.earlier_trials = static_cast<std::int64_t>(earlier.trials.size());
    return result;
  } catch (const DatabaseError&) {
    throw;  // nothing more can be written
  } catch (...) {
    mark_interrupted(log);
    throw;
  }
}

}  // namespace kiln
