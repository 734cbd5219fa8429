// Finds or begins the row of a session, appends its trials, and counts what the budget limits.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session_log.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/utc_time.hpp"
#include "core/version.hpp"
#include "db/session_options.hpp"
#include "lookup/best_so_far.hpp"
#include "tuner/checks/recorded_arrays.hpp"
#include "tuner/session/earlier_trials.hpp"

namespace kiln {
namespace {

/// Everything else that changes results, as canonical text.
std::string options_text(const TuneOptions& options, const Setting& setting) {
  std::vector<std::string> variants = options.variants;
  std::sort(variants.begin(), variants.end());
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    add_option(text, name, value);
  };
  add(session_option::kCache, options.measure.cold_cache ? "cold" : "warm");
  add(session_option::kVariants,
      variants.empty() ? "all" : fmt::format("{}", fmt::join(variants, ",")));
  if (options.warm_configs == 0) {
    add(session_option::kWarmStart, "off");
  } else if (options.warm_configs != kWarmConfigs) {
    add(session_option::kWarmStart, std::to_string(options.warm_configs));
  }
  if (options.objective != kTimeObjective) add(session_option::kObjective, options.objective);
  if (!options.against.empty()) add(session_option::kAgainst, options.against);
  const std::int64_t last_level = setting.device().last_level_bytes;
  if (options.measure.cold_cache && last_level > 0)
    add(session_option::kLastLevel, std::to_string(last_level));
  const std::string recorded = recorded_hash(setting.spec(), setting.problem());
  if (!recorded.empty()) add(session_option::kRecorded, recorded);
  add(session_option::kComputes, computation_hash(setting.spec()));
  add(session_option::kLaunches, launches_text(setting.spec()));
  return text;
}

std::string budget_text(const Budget& budget) {
  std::vector<std::string> limits;
  if (budget.seconds) limits.push_back(fmt::format("seconds={}", *budget.seconds));
  if (budget.trials) limits.push_back(fmt::format("trials={}", *budget.trials));
  if (budget.no_progress_trials)
    limits.push_back(fmt::format("no_progress={}", *budget.no_progress_trials));
  if (budget.target) limits.push_back(fmt::format("target={}", *budget.target));
  return fmt::format("{}", fmt::join(limits, " "));
}

SessionRecord make_record(const TuneRequest& request, const std::string& strategy,
                          const Setting& setting, std::int64_t space_size) {
  const DeviceInfo& device = setting.device();
  SessionRecord record;
  record.key = {request.spec.name,
                content_hash(request.spec),
                request.problem.text(),
                identity_of(device),
                device.driver,
                device.compiler,
                kVersion,
                strategy,
                request.options.seed,
                options_text(request.options, setting)};
  record.key.timing = request.options.measure.timing;
  record.device_info = device;
  record.problem_json = to_json(request.problem).dump();
  record.budget = budget_text(request.options.budget);
  record.space_size = space_size;
  record.started_at = utc_now();
  return record;
}

/// The newest session with the key, finished or not.
std::optional<SessionRecord> find_newest(const Store& store, const SessionKey& key) {
  std::optional<SessionRecord> finished = store.find_finished(key);
  std::optional<SessionRecord> unfinished = store.find_unfinished(key);
  if (!finished) return unfinished;
  return unfinished && unfinished->id > finished->id ? unfinished : finished;
}

// Seconds of a run that a kill may make free.
constexpr double kNotePeriod = 1;

/// The end of a killed run is not stored: what its trials took on the device is the least it was.
double used_seconds(const SessionRecord& record, const std::vector<TrialRecord>& trials) {
  double ns = 0;
  for (const TrialRecord& stored : trials) {
    ns += static_cast<double>(stored.trial.cost.verify_ns);
    ns += static_cast<double>(stored.trial.cost.measure_ns);
  }
  return std::max(record.wall_seconds, ns * 1e-9);
}

/// The seconds of a budget as budget_text() writes it; nullopt: it has none.
std::optional<double> given_seconds(const std::string& budget) {
  constexpr std::string_view kKey = "seconds=";
  if (!budget.starts_with(kKey)) return std::nullopt;
  return std::strtod(budget.c_str() + kKey.size(), nullptr);
}

/// Trials are numbered 1, 2, 3, ...; a file may have been changed by other hands.
void check_numbers(SessionId session, const std::vector<TrialRecord>& trials) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto expected = static_cast<std::int64_t>(i) + 1;
    if (trials[i].sequence == expected) continue;
    throw DatabaseError(
        fmt::format("session {} cannot go on: expected its trials to be numbered 1 to {}, found "
                    "number {}; `kiln tune --fresh` begins another session",
                    session, trials.size(), trials[i].sequence));
  }
}

}  // namespace

SessionLog::SessionLog(Store& store, const TuneRequest& request, const std::string& strategy,
                       const Setting& setting, const Space& space, const Scoring& scoring)
    : store_(store),
      setting_(setting),
      space_(space),
      scoring_(scoring),
      record_(make_record(request, strategy, setting, static_cast<std::int64_t>(space.size()))) {
  if (request.options.fresh) return;
  const auto stored = find_newest(store, record_.key);
  if (!stored) return;
  stored_ordinal_ = stored->device_info.ordinal;
  record_.id = stored->id;
  record_.state = stored->state;
  trials_ = store.trials(stored->id);
  check_numbers(stored->id, trials_);
  open_attempts_ = store.attempts(stored->id);
  for (const DriftRecord& drift : store.drift(stored->id)) take_up(drift);
  for (std::size_t i = 0; i < trials_.size(); ++i) count(i);
  stored_before_ = static_cast<std::int64_t>(trials_.size());
  earlier_seconds_ = used_seconds(*stored, trials_);
  if (stored->state == SessionState::finished) {
    // What is given is compared with what was given: preparing and one long trial may have taken
    // many times as long as that.
    if (const auto given = given_seconds(stored->budget))
      earlier_seconds_ = std::min(earlier_seconds_, *given);
    // The same budget as then is answered, even where the clock ran out a moment early.
    if (stored->budget == record_.budget)
      earlier_seconds_ = std::max(earlier_seconds_, request.options.budget.seconds.value_or(0));
  }
  published_ = store.best_of(record_.id);
}

bool SessionLog::answers(const Budget& budget) const {
  if (record_.id == 0 || record_.state != SessionState::finished || trials_.empty()) return false;
  const bool unlimited =
      !budget.seconds && !budget.trials && !budget.no_progress_trials && !budget.target;
  return tried_every_config() || unlimited || budget.exhausted(search_progress()).has_value();
}

void SessionLog::begin() {
  start_ = std::chrono::steady_clock::now();
  if (record_.id == 0) {
    record_.id = store_.begin_session(record_);
  } else {
    store_.reopen(record_.id, record_.budget);
  }
  record_.state = SessionState::running;
}

void SessionLog::count(std::size_t index) {
  const TrialRecord& record = trials_[index];
  if (space_.index_of(record.trial.config)) ++tried_of_space_;
  if (!record.trial.ok()) ++failures_;
  const std::optional<double> score = scoring_.score(record.trial);
  const double corrected = score ? *score / slowness(record.sequence) : 0;
  if (score && (!best_ || corrected < best_score_)) {
    best_ = index;
    best_score_ = corrected;
    without_progress_ = 0;
  } else {
    ++without_progress_;
  }
}

const TrialRecord& SessionLog::append(const Trial& trial, const Config* next) {
  const std::int64_t sequence = trials_.empty() ? 1 : trials_.back().sequence + 1;
  begun_ = next != nullptr ? next->text() : "";
  store_.append(record_.id, sequence, trial, take_unnoted_seconds(), begun_);
  trials_.push_back({0, sequence, trial});
  count(trials_.size() - 1);
  return trials_.back();
}

/// Drift is told in time: a score that is no time is left as it is.
double SessionLog::slowness(std::int64_t sequence) const {
  return scoring_.objective().is_time() ? drift_.at(sequence) : 1;
}

double SessionLog::best_ns() const {
  const TrialRecord* best = leader();
  if (best == nullptr) return 0;
  return best->trial.time_ns * drift_.at(trials_.back().sequence) / drift_.at(best->sequence);
}

const TrialRecord* SessionLog::leader() const { return best_ ? &trials_[*best_] : nullptr; }

TrialRecord SessionLog::judged(const TrialRecord& record) const {
  TrialRecord judged = record;
  judged.trial = scoring_.told(record.trial);
  if (!judged.trial.ok()) return judged;
  judged.trial.samples.ns = scoring_.scores(record.trial, record.trial.samples.ns, {});
  const double slower = slowness(record.sequence);
  judged.trial.time_ns /= slower;
  for (double& sample : judged.trial.samples.ns) sample /= slower;
  return judged;
}

void SessionLog::add_drift(DriftRecord drift) {
  drift.sequence = trials_.back().sequence;
  store_.add_drift(record_.id, drift);
  take_up(drift);
}

void SessionLog::take_up(const DriftRecord& drift) {
  const auto measured = std::find_if(trials_.begin(), trials_.end(), [&](const TrialRecord& each) {
    return each.trial.config.text() == drift.config;
  });
  if (measured == trials_.end()) return;  // of a database that others wrote
  drift_.add(drift, measured->sequence);
  drifts_.push_back(drift);
}

double SessionLog::take_unnoted_seconds() {
  const double now = run_seconds();
  return now - std::exchange(noted_seconds_, now);
}

void SessionLog::refuse(const Config& config, const Failure& failure) {
  const auto found = std::ranges::find(
      trials_, config,
      [](const TrialRecord& record) -> const Config& { return record.trial.config; });
  if (found == trials_.end() || !found->trial.ok()) return;
  store_.refuse(record_.id, config.text(), failure);
  found->trial.outcome = failure.outcome;
  found->trial.message = failure.message;
  found->trial.time_ns = 0;
  ++failures_;
  if (leader() == &*found) best_.reset();
}

void SessionLog::note(const Config& config, AttemptEvent event) {
  if (event == AttemptEvent::begins) {
    // A worker that died over it begins anew.
    if (config.text() != std::exchange(begun_, {})) store_.begin_attempt(record_.id, config.text());
  } else {
    store_.note_death(record_.id, config.text());
  }
}

void SessionLog::note_time() {
  if (run_seconds() - noted_seconds_ >= kNotePeriod)
    store_.add_wall_seconds(record_.id, take_unnoted_seconds());
}

void SessionLog::finish(SessionState state, std::optional<BestRecord> best) {
  store_.finish(record_.id, state, take_unnoted_seconds(), best);
  record_.state = state;
  if (best) published_ = std::move(best);
}

std::optional<double> SessionLog::time_of(const Config& config) const {
  for (const TrialRecord& stored : trials_) {
    if (stored.trial.config != config) continue;
    return stored.trial.ok() ? std::optional(stored.trial.time_ns) : std::nullopt;
  }
  return std::nullopt;
}

double SessionLog::run_seconds() const {
  if (record_.state != SessionState::running) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool SessionLog::tried_only_default() const {
  if (trials_.empty() || record_.space_size <= 1 || tried_every_config()) return false;
  const Trial& first = trials_.front().trial;
  if (first.config != setting_.default_config()) return false;
  // One that is not asked for is no answer, however long the search is.
  return trials_.size() == 1 || (first.ok() && space_.index_of(first.config) &&
                                 failures_ + 1 == static_cast<std::int64_t>(trials_.size()));
}

Progress SessionLog::search_progress() const {
  Progress progress = {elapsed_seconds(), static_cast<std::int64_t>(trials_.size()),
                       without_progress_, 0};
  // The default config is trial 1 of every session.
  if (!best_ || !(best_score_ > 0)) return progress;
  const std::optional<double> first = scoring_.score(trials_.front().trial);
  if (first) progress.speedup = *first / slowness(1) / best_score_;
  return progress;
}

SessionProgress SessionLog::progress(const Budget& budget, const Config& default_config) const {
  SessionProgress progress;
  progress.trials = static_cast<std::int64_t>(trials_.size());
  progress.failures = failures_;
  progress.elapsed_seconds = elapsed_seconds();
  const double seconds = run_seconds();
  progress.trials_per_second =
      seconds > 0 ? static_cast<double>(progress.trials - stored_before_) / seconds : 0;
  if (const TrialRecord* best = leader()) {
    progress.best_ns = best->trial.time_ns;
    progress.best_config = best->trial.config.text();
  }
  progress.default_ns = time_of(default_config).value_or(0);
  if (budget.seconds)
    progress.seconds_left = std::max(0.0, *budget.seconds - progress.elapsed_seconds);
  if (budget.trials)
    progress.trials_left = std::max<std::int64_t>(0, *budget.trials - progress.trials);
  return progress;
}

SessionResult SessionLog::result(SessionEnd end) const {
  SessionResult result;
  result.id = record_.id;
  result.state = record_.state;
  result.end = end;
  result.device = record_.device_info;
  result.space_size = record_.space_size;
  result.trials = static_cast<std::int64_t>(trials_.size());
  result.failures = failures_;
  result.new_trials = result.trials - stored_before_;
  const auto stored = store_.session(record_.id);
  result.wall_seconds = stored ? stored->wall_seconds : 0;
  result.only_default = !published_ && tried_only_default();
  result.drift = drifts_;
  std::set<std::string> reasons;
  for (const TrialRecord& record : trials_) {
    if (!record.trial.samples.throttled) continue;
    ++result.throttled;
    reasons.insert(record.trial.samples.throttle);
  }
  result.throttle = fmt::format("{}", fmt::join(reasons, ","));
  result.best = published_;
  return result;
}

std::optional<BestRecord> SessionLog::so_far() const { return best_so_far(record_, trials_); }

BestRecord SessionLog::new_best() const {
  BestRecord best;
  best.session = record_.id;
  best.key = record_.key;
  best.device_info = record_.device_info;
  best.problem_json = record_.problem_json;
  best.objective = scoring_.objective().name;
  best.trials = static_cast<std::int64_t>(trials_.size());
  best.failures = failures_;
  best.published_at = utc_now();
  return best;
}

}  // namespace kiln
