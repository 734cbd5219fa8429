// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/published_best.hpp"

#include <algorithm>

#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "db/close_configs.hpp"

namespace kiln {
namespace {

FinalsVerdict judge(const Finalists& finalists, const FinalsRounds& rounds) {
  if (rounds.scores.size() == finalists.trials.size()) {
    return judge_finals(rounds.scores, finalists.default_index);
  }
  if (finalists.trials.size() == 1) {
    return {0, finalists.default_index ? Verdict::tie : Verdict::better};
  }
  const auto fastest = std::min_element(
      finalists.trials.begin(), finalists.trials.end(),
      [](const auto* a, const auto* b) { return a->trial.time_ns < b->trial.time_ns; });
  return {static_cast<std::size_t>(fastest - finalists.trials.begin()), Verdict::unmeasurable};
}

}  // namespace

const Variant* naive_variant(const KernelSpec& spec) {
  if (const Variant* naive = spec.find_variant("naive")) return naive;
  const std::string& reference = spec.verify.device_reference;
  return spec.find_variant(reference.substr(0, reference.find(':')));
}

std::optional<Config> naive_config(const Setting& setting) {
  const Variant* naive = naive_variant(setting.spec());
  if (naive == nullptr) return std::nullopt;
  return setting.default_config(*naive);
}

Evidence finals_evidence(const Scoring& scoring, const std::vector<TrialRecord>& candidates,
                         const Finalists& finalists, const FinalsRounds& rounds) {
  if (!scoring.objective().is_time()) {
    return evidence_of(finalists, rounds.ns, scoring.objective(), rounds.scores);
  }
  Evidence evidence = evidence_of(finalists, rounds.ns);
  add_close_configs(evidence, candidates);
  return evidence;
}

BestRecord make_best(const Scoring& scoring, const SessionLog& log, const Finalists& finalists,
                     const FinalsRounds& rounds) {
  const bool measured = rounds.ns.size() == finalists.trials.size();
  const FinalsVerdict verdict = judge(finalists, rounds);
  const auto time_of = [&](std::size_t i) {
    return measured ? median(rounds.ns[i]) : log.trial(finalists.trials[i]->sequence).time_ns;
  };
  const Objective& objective = scoring.objective();
  const auto value_of = [&](std::size_t i) {
    return objective.value(measured ? median(rounds.scores[i])
                                    : finalists.trials[i]->trial.time_ns);
  };

  BestRecord best = log.new_best();
  best.config = finalists.trials[verdict.winner]->trial.config;
  const KernelSpec& spec = log.setting().spec();
  best.template_hash = template_hash(spec, *spec.find_variant(best.config.variant));
  best.time_ns = time_of(verdict.winner);
  best.value = value_of(verdict.winner);
  if (finalists.default_index) {
    best.default_time_ns = time_of(*finalists.default_index);
    best.default_value = value_of(*finalists.default_index);
  }
  best.verdict = verdict.verdict;
  if (const std::optional<Config> naive = naive_config(log.setting())) {
    best.naive_time_ns = log.time_of(*naive);
    for (std::size_t i = 0; i < finalists.trials.size(); ++i) {
      if (finalists.trials[i]->trial.config == *naive) best.naive_time_ns = time_of(i);
    }
  }
  const ProblemCost cost = log.setting().cost();
  best.bytes = cost.bytes;
  best.flops = cost.flops;
  return best;
}

}  // namespace kiln
