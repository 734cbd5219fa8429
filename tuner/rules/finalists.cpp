// Ranks trials, chooses contenders and finalists, and summarises their samples as evidence.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/finalists.hpp"

#include <algorithm>
#include <numeric>

#include "core/statistics.hpp"

namespace kiln {
namespace {

// Samples overlap when the lower quartile of one lies within this factor of the upper quartile of
// the other.
constexpr double kOverlap = 1.02;

constexpr Evidence::Rule kRule = {.practical_tie = kPracticalTie, .confidence = 0.99};

Finalist named(const TrialRecord& record) {
  Finalist finalist;
  finalist.config = record.trial.config.text();
  finalist.sequence = record.sequence;
  return finalist;
}

bool faster(const TrialRecord* a, const TrialRecord* b) {
  return a->trial.time_ns != b->trial.time_ns ? a->trial.time_ns < b->trial.time_ns
                                              : a->sequence < b->sequence;
}

}  // namespace

std::vector<const TrialRecord*> choose_contenders(const std::vector<TrialRecord>& trials,
                                                  const Config& default_config, std::size_t most) {
  std::vector<const TrialRecord*> ranking;
  for (const TrialRecord& record : trials) {
    if (record.trial.ok()) ranking.push_back(&record);
  }
  if (ranking.empty()) return {};
  std::sort(ranking.begin(), ranking.end(), faster);

  std::vector<const TrialRecord*> contenders;
  const double reach = kOverlap * quantile(ranking.front()->trial.samples.ns, 0.75);
  for (const TrialRecord* record : ranking) {
    if (contenders.size() == most) break;
    const bool overlaps =
        record == ranking.front() || quantile(record->trial.samples.ns, 0.25) <= reach;
    if (overlaps && record->trial.config != default_config) contenders.push_back(record);
  }
  return contenders;
}

std::vector<std::size_t> rank_rounds(const std::vector<std::vector<double>>& scores) {
  std::vector<std::vector<double>> ratios(scores.size());
  for (std::size_t round = 0; !scores.empty() && round < scores.front().size(); ++round) {
    std::vector<double> of_round;
    for (const std::vector<double>& each : scores) of_round.push_back(each[round]);
    const double middle = median(of_round);
    for (std::size_t i = 0; i < scores.size(); ++i) ratios[i].push_back(of_round[i] / middle);
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return median(ratios[a]) < median(ratios[b]);
  });
  return order;
}

Finalists choose_finalists(const std::vector<TrialRecord>& trials, const Config& default_config,
                           const std::vector<const TrialRecord*>& contenders) {
  Finalists finalists;
  finalists.trials = contenders;
  if (finalists.trials.size() > kMaxFinalists) finalists.trials.resize(kMaxFinalists);
  std::sort(finalists.trials.begin(), finalists.trials.end(),
            [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  const auto usual = std::find_if(trials.begin(), trials.end(), [&](const TrialRecord& record) {
    return record.trial.ok() && record.trial.config == default_config;
  });
  if (usual != trials.end()) {
    finalists.trials.insert(finalists.trials.begin(), &*usual);
    finalists.default_index = 0;
  }
  return finalists;
}

void remove_finalist(Finalists& finalists, std::size_t index) {
  finalists.trials.erase(finalists.trials.begin() + static_cast<std::ptrdiff_t>(index));
  if (finalists.default_index == index) finalists.default_index.reset();
}

Evidence evidence_of(const Finalists& finalists, const std::vector<std::vector<double>>& samples) {
  Evidence evidence;
  evidence.rule = kRule;
  for (std::size_t i = 0; i < finalists.trials.size(); ++i) {
    Finalist& finalist = evidence.finalists.emplace_back(named(*finalists.trials[i]));
    if (i < samples.size()) finalist.ns = samples[i];
    finalist.median_ns = median(finalist.ns);
  }
  return evidence;
}

Evidence evidence_of(const Finalists& finalists, const std::vector<std::vector<double>>& ns,
                     const Objective& objective, const std::vector<std::vector<double>>& scores) {
  Evidence evidence;
  evidence.objective = objective.name;
  evidence.rule = kRule;
  for (std::size_t i = 0; i < finalists.trials.size(); ++i) {
    Finalist& finalist = evidence.finalists.emplace_back(named(*finalists.trials[i]));
    if (i >= ns.size() || i >= scores.size()) continue;
    for (const double score : scores[i]) finalist.values.push_back(objective.value(score));
    finalist.value = median(finalist.values);
    finalist.ns = ns[i];
  }
  return evidence;
}

}  // namespace kiln
