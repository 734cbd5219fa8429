// Chooses and checks the finalists, measures them in turn, and makes the best record.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session_finals.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "db/close_configs.hpp"
#include "tuner/session/published_best.hpp"

namespace kiln {
namespace {

// Of the best and a library: enough for an interval of a per cent, also of short runs.
constexpr FinalsOptions kRivalRounds = {12, 48, 0.4e9};

// Where many fail at the end they do for one reason.
constexpr std::size_t kToldFailures = 8;

}  // namespace

std::optional<FinalsRounds> SessionFinals::measure_finalists(Finalists& finalists) {
  std::vector<Config> configs;
  for (const TrialRecord* record : finalists.trials) configs.push_back(record->trial.config);
  observer_.on_finals(configs);
  std::optional<FinalsReport> report =
      pipeline_.run_finals(configs, request_.options.finals, request_.options.stop);
  if (!report) return std::nullopt;
  if (report->failure) {
    observer_.on_warning("the finals failed, the samples of the search decide: " +
                         report->failure->message);
    return FinalsRounds();
  }
  FinalsRounds rounds;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::vector<double> energy_j =
        i < report->energy_j.size() ? report->energy_j[i] : std::vector<double>();
    rounds.scores.push_back(
        scoring_.scores(log_.trial(finalists.trials[i]->sequence), report->samples[i], energy_j));
  }
  rounds.ns = std::move(report->samples);
  for (std::size_t i = configs.size(); i-- > 0;) {
    std::string fault;
    if (!report->wrong[i].empty()) {
      log_.refuse(configs[i], {Outcome::wrong_result, report->wrong[i]});
      fault = "gave a wrong result in the finals and is out: " + report->wrong[i];
    } else if (rounds.scores[i].empty()) {
      fault = "has no value of the objective in the finals and is out";
    }
    if (fault.empty()) continue;
    observer_.on_warning(configs[i].text() + " " + fault);
    remove_finalist(finalists, i);
    rounds.ns.erase(rounds.ns.begin() + static_cast<std::ptrdiff_t>(i));
    rounds.scores.erase(rounds.scores.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return rounds;
}

void SessionFinals::judge(Field& field) const {
  field.judged.clear();
  for (const TrialRecord& record : field.trials) field.judged.push_back(log_.judged(record));
}

std::optional<std::vector<std::string>> SessionFinals::run_semi_finals(Field& field) {
  std::vector<std::string> ranking;
  // A round of energy takes seconds.
  if (scoring_.objective().needs_energy || log_.best_ns() <= 0) return ranking;
  const double affordable =
      kSemiFinals.max_ns / (static_cast<double>(kSemiFinals.min_rounds) * log_.best_ns());
  const auto most = static_cast<std::size_t>(
      std::clamp(affordable, double{kMaxFinalists}, double{kMaxContenders}));
  const std::vector<const TrialRecord*> contenders =
      choose_contenders(field.judged, default_config_, most);
  if (contenders.size() <= kMaxFinalists) return ranking;
  std::vector<Config> configs;
  for (const TrialRecord* record : contenders) configs.push_back(record->trial.config);
  const std::optional<FinalsReport> report =
      pipeline_.run_finals(configs, kSemiFinals, request_.options.stop);
  if (!report) return std::nullopt;
  if (report->failure) {
    observer_.on_warning(
        "the semi-finals failed, the samples of the search choose the finalists: " +
        report->failure->message);
    return ranking;
  }
  std::vector<std::vector<double>> scores;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    scores.push_back(scoring_.scores(log_.trial(contenders[i]->sequence), report->samples[i], {}));
  for (const std::size_t i : rank_rounds(scores)) {
    const std::string text = configs[i].text();
    if (report->wrong[i].empty()) {
      ranking.push_back(text);
      continue;
    }
    observer_.on_warning(text +
                         " gave a wrong result in the semi-finals and is out: " + report->wrong[i]);
    log_.refuse(configs[i], {Outcome::wrong_result, report->wrong[i]});
    std::erase_if(field.trials,
                  [&](const TrialRecord& record) { return record.trial.config == configs[i]; });
  }
  return ranking;
}

Finalists SessionFinals::choose(const Field& field, const std::vector<std::string>& ranking) const {
  if (ranking.empty())
    return choose_finalists(field.judged, default_config_,
                            choose_contenders(field.judged, default_config_, kMaxFinalists));
  std::vector<const TrialRecord*> contenders;
  for (const std::string& text : ranking) {
    for (const TrialRecord& record : field.judged) {
      if (record.trial.config.text() == text) contenders.push_back(&record);
    }
  }
  return choose_finalists(field.judged, default_config_, contenders);
}

/// Only the configs that led when they were measured were put through every check then.
std::optional<SessionFinals::Field> SessionFinals::choose_proven() {
  Field field;
  field.trials = log_.trials();
  judge(field);
  const std::optional<std::vector<std::string>> ranking = run_semi_finals(field);
  if (!ranking) return std::nullopt;
  std::size_t out = 0;
  while (true) {
    judge(field);
    field.finalists = choose(field, *ranking);
    std::vector<Config> configs;
    for (const TrialRecord* record : field.finalists.trials)
      configs.push_back(record->trial.config);
    // Close configs are told by time.
    if (scoring_.objective().is_time()) {
      for (const TrialRecord* record : close_trials(field.trials))
        configs.push_back(record->trial.config);
    }
    const auto unproven = pipeline_.prove(configs, log_.best_ns(), request_.options.stop);
    if (!unproven) return std::nullopt;
    if (unproven->empty()) break;
    for (const auto& [config, failure] : *unproven) {
      if (++out > kToldFailures) continue;
      observer_.on_warning(config + " fails a check at the end and is out: " + failure.message);
    }
    std::erase_if(field.trials, [&](const TrialRecord& record) {
      const auto found = unproven->find(record.trial.config.text());
      if (found == unproven->end()) return false;
      log_.refuse(record.trial.config, found->second);
      return true;
    });
  }
  if (out > kToldFailures) {
    observer_.on_warning(
        fmt::format("{} configs in all fail a check at the end and are out; {} of them are named",
                    out, kToldFailures));
  }
  return field;
}

void SessionFinals::measure_naive(const Finalists& finalists, BestRecord& best) const {
  constexpr double kLongestRun = 0.1e9;
  constexpr FinalsOptions kRounds = {8, 8, 0};
  const std::optional<Config> naive = naive_config(log_.setting());
  if (!naive || scoring_.objective().needs_energy) return;
  const auto took_part =
      std::any_of(finalists.trials.begin(), finalists.trials.end(),
                  [&](const TrialRecord* record) { return record->trial.config == *naive; });
  const std::optional<double> searched = log_.time_of(*naive);
  if (took_part || !searched || *searched > kLongestRun) return;
  const std::optional<FinalsReport> report =
      pipeline_.run_finals({best.config, *naive}, kRounds, request_.options.stop);
  if (!report || report->failure) return;
  best.naive_time_ns =
      best.time_ns * ratio_interval(report->samples.back(), report->samples.front()).middle;
}

std::optional<Evidence::Rival> SessionFinals::measure_rival(const Config& best) const {
  const std::string& library = request_.options.against;
  Evidence::Rival rival;
  for (const bool other_cache : {false, true}) {
    const std::optional<FinalsReport> report =
        pipeline_.run_finals({best}, kRivalRounds, request_.options.stop, {library, other_cache});
    if (!report) return std::nullopt;
    const std::string trouble = report->failure ? report->failure->message : report->unavailable;
    if (!trouble.empty() || report->samples.size() != 2 || report->errors.size() != 2) {
      observer_.on_warning("not measured against " + library + ": " + trouble);
      return std::nullopt;
    }
    if (!report->wrong.front().empty()) {
      observer_.on_warning(best.text() + " gave a wrong result in turn with " + library + ": " +
                           report->wrong.front());
      return std::nullopt;
    }
    (other_cache ? rival.other_best_ns : rival.best_ns) = report->samples.front();
    (other_cache ? rival.other_ns : rival.ns) = report->samples.back();
    rival.library = report->library;
    rival.best_error = report->errors.front();
    rival.error = report->errors.back();
    if (!report->wrong.back().empty()) {
      rival.verdict = name_of(RivalVerdict::wrong);
      return rival;
    }
  }
  rival.verdict = name_of(judge_rival(rival));
  return rival;
}

FinalsEnd SessionFinals::run() {
  std::optional<Field> field = choose_proven();
  if (!field) return {true, std::nullopt, {}};
  Finalists& finalists = field->finalists;
  if (finalists.trials.empty()) return {};
  std::optional<FinalsRounds> rounds(std::in_place);
  if (finalists.trials.size() > 1) rounds = measure_finalists(finalists);
  if (!rounds) return {true, std::nullopt, {}};
  if (finalists.trials.empty()) return {};  // none was right to the end
  BestRecord best = make_best(scoring_, log_, finalists, *rounds);
  if (!rounds->ns.empty()) measure_naive(finalists, best);
  Evidence evidence = finals_evidence(scoring_, field->trials, finalists, *rounds);
  if (!request_.options.against.empty()) evidence.rival = measure_rival(best.config);
  return {false, std::move(best), std::move(evidence)};
}

}  // namespace kiln
