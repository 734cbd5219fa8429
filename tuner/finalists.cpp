// Choosing finalists, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/finalists.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace kiln {
namespace {

// Samples overlap when the lower quartile of one lies within this factor of the upper quartile of
// the other.
constexpr double kOverlap = 1.02;

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

Json rule_json() { return {{"practical_tie", kPracticalTie}, {"confidence", 0.99}}; }

bool faster(const TrialRecord* a, const TrialRecord* b) {
  return a->trial.time_ns != b->trial.time_ns ? a->trial.time_ns < b->trial.time_ns
                                              : a->sequence < b->sequence;
}

}  // namespace

Finalists choose_finalists(const std::vector<TrialRecord>& trials, const Config& default_config) {
  std::vector<const TrialRecord*> ranking;
  const TrialRecord* usual = nullptr;
  for (const TrialRecord& record : trials) {
    if (!record.trial.ok()) continue;
    ranking.push_back(&record);
    if (record.trial.config == default_config) usual = &record;
  }
  if (ranking.empty()) return {};
  std::sort(ranking.begin(), ranking.end(), faster);

  Finalists finalists;
  const double reach = kOverlap * quantile(ranking.front()->trial.samples.ns, 0.75);
  for (const TrialRecord* record : ranking) {
    if (finalists.trials.size() == kMaxFinalists) break;
    const bool overlaps =
        record == ranking.front() || quantile(record->trial.samples.ns, 0.25) <= reach;
    if (overlaps && record != usual) finalists.trials.push_back(record);
  }
  std::sort(finalists.trials.begin(), finalists.trials.end(),
            [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  if (usual != nullptr) {
    finalists.trials.insert(finalists.trials.begin(), usual);
    finalists.default_index = 0;
  }
  return finalists;
}

void remove_finalist(Finalists& finalists, std::size_t index) {
  finalists.trials.erase(finalists.trials.begin() + static_cast<std::ptrdiff_t>(index));
  if (finalists.default_index == index) finalists.default_index.reset();
}

std::string evidence_text(const Finalists& finalists,
                          const std::vector<std::vector<double>>& samples) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < finalists.trials.size(); ++i) {
    const TrialRecord& record = *finalists.trials[i];
    entries.push_back({{"config", record.trial.config.text()},
                       {"sequence", record.sequence},
                       {"median_ns", i < samples.size() ? median(samples[i]) : 0.0},
                       {"samples_ns", i < samples.size() ? samples[i] : std::vector<double>()}});
  }
  return Json({{"finalists", entries}, {"rule", rule_json()}}).dump();
}

std::string evidence_text(const Finalists& finalists, const std::vector<std::vector<double>>& ns,
                          const Objective& objective,
                          const std::vector<std::vector<double>>& scores) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < finalists.trials.size(); ++i) {
    const TrialRecord& record = *finalists.trials[i];
    Json entry = {{"config", record.trial.config.text()}, {"sequence", record.sequence}};
    if (i < ns.size() && i < scores.size()) {
      std::vector<double> values;
      for (const double score : scores[i]) values.push_back(objective.value(score));
      entry["value"] = median(values);
      entry["values"] = std::move(values);
      entry["samples_ns"] = ns[i];
    }
    entries.push_back(std::move(entry));
  }
  return Json({{"objective", objective.name}, {"finalists", entries}, {"rule", rule_json()}})
      .dump();
}

}  // namespace kiln
