// Which tunables matter: how much of the spread of times each one explains on its own.
//
// The share is the variance of log(time) between the values of a tunable over that of all trials,
// less what chance alone would give (epsilon squared). How sure it is comes from a permutation
// test: how often shuffled times, which have nothing to do with the tunable, do as well.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/show/show.hpp"
#include "core/value.hpp"
#include "search/random.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kLeastTrials = 12;
constexpr std::size_t kToldFactors = 3;
constexpr std::size_t kShuffles = 400;
constexpr double kLeastShare = 0.01;

/// A tunable with the group that each trial belongs to by its value.
struct Factor {
  std::string name;
  std::vector<std::string> values;  ///< of each group
  std::vector<std::size_t> group;   ///< of each trial
  double share = 0;                 ///< of the spread
  double chance = 1;                ///< that shuffled times do as well
};

double sum_of_squares(const std::vector<double>& logs) {
  double mean = 0;
  for (const double value : logs) mean += value / static_cast<double>(logs.size());
  double sum = 0;
  for (const double value : logs) sum += (value - mean) * (value - mean);
  return sum;
}

/// Sum of squares of `logs` around the mean of their own group.
double sum_within(const Factor& factor, const std::vector<double>& logs) {
  std::vector<double> sums(factor.values.size(), 0);
  std::vector<double> counts(factor.values.size(), 0);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    sums[factor.group[i]] += logs[i];
    counts[factor.group[i]] += 1;
  }
  double within = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::size_t group = factor.group[i];
    const double difference = logs[i] - sums[group] / counts[group];
    within += difference * difference;
  }
  return within;
}

/// Epsilon squared: 0 for a tunable that says nothing.
double share_explained(const Factor& factor, const std::vector<double>& logs, double total) {
  const auto trials = static_cast<double>(logs.size());
  const auto groups = static_cast<double>(factor.values.size());
  if (total <= 0 || trials <= groups) return 0;
  const double within = sum_within(factor, logs);
  return std::max(0.0, 1 - within / (trials - groups) / (total / (trials - 1)));
}

void judge(Factor& factor, std::vector<double> logs, double total) {
  factor.share = share_explained(factor, logs, total);
  Random random(1);
  std::size_t as_good = 0;
  for (std::size_t i = 0; i < kShuffles; ++i) {
    random.shuffle(logs);
    if (share_explained(factor, logs, total) >= factor.share) ++as_good;
  }
  factor.chance = static_cast<double>(as_good + 1) / static_cast<double>(kShuffles + 1);
}

/// The group whose fastest trial is the fastest.
const std::string& fastest_value(const Factor& factor, const std::vector<double>& logs) {
  const auto fastest = std::min_element(logs.begin(), logs.end());
  return factor.values[factor.group[static_cast<std::size_t>(fastest - logs.begin())]];
}

std::string how_sure(double chance) {
  if (chance < 0.01) return "sure";
  return chance < 0.1 ? "likely" : "may be chance";
}

/// The trials that were ok by variant, those of the variant that has most of them first.
std::vector<std::vector<const Trial*>> trials_by_variant(const std::vector<TrialRecord>& trials) {
  std::map<std::string, std::vector<const Trial*>> variants;
  for (const TrialRecord& row : trials) {
    if (row.trial.ok() && row.trial.time_ns > 0)
      variants[row.trial.config.variant].push_back(&row.trial);
  }
  std::vector<std::vector<const Trial*>> ordered;
  for (auto& [name, of_variant] : variants) ordered.push_back(std::move(of_variant));
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return ordered;
}

std::vector<Factor> factors_of(const std::vector<const Trial*>& trials) {
  std::vector<Factor> factors;
  for (const auto& [name, unused] : trials.front()->config.values) {
    Factor factor{name, {}, {}, 0, 1};
    for (const Trial* trial : trials) {
      const Value* value = trial->config.find(name);
      const std::string text = value == nullptr ? "-" : to_text(*value);
      const auto known = std::find(factor.values.begin(), factor.values.end(), text);
      factor.group.push_back(static_cast<std::size_t>(known - factor.values.begin()));
      if (known == factor.values.end()) factor.values.push_back(text);
    }
    if (factor.values.size() > 1) factors.push_back(std::move(factor));
  }
  return factors;
}

/// Of one variant, the tunable that explains most first; empty: too few trials.
std::vector<Importance> importance_of(const std::vector<const Trial*>& trials) {
  if (trials.size() < kLeastTrials) return {};
  std::vector<double> logs;
  for (const Trial* trial : trials) logs.push_back(std::log(trial->time_ns));
  const double total = sum_of_squares(logs);
  std::vector<Factor> factors = factors_of(trials);
  for (Factor& factor : factors) judge(factor, logs, total);
  std::stable_sort(factors.begin(), factors.end(),
                   [](const Factor& a, const Factor& b) { return a.share > b.share; });
  std::vector<Importance> found;
  for (const Factor& factor : factors) {
    if (factor.share < kLeastShare) break;
    found.push_back({trials.front()->config.variant, trials.size(), factor.name, factor.share,
                     factor.chance, how_sure(factor.chance), fastest_value(factor, logs)});
  }
  return found;
}

}  // namespace

std::vector<Importance> importance_by_variant(const std::vector<TrialRecord>& rows) {
  std::vector<Importance> all;
  for (const std::vector<const Trial*>& trials : trials_by_variant(rows)) {
    for (Importance& each : importance_of(trials)) all.push_back(std::move(each));
  }
  return all;
}

std::vector<std::string> importance(const std::vector<TrialRecord>& rows) {
  const auto variants = trials_by_variant(rows);
  if (variants.empty()) return {};
  std::vector<std::string> lines;
  for (const Importance& each : importance_of(variants.front())) {
    if (lines.size() == kToldFactors) break;
    lines.push_back(
        fmt::format("{}: {} explains {:.0f}% of the spread of times ({}); the fastest has {}",
                    each.variant, each.tunable, 100 * each.share, each.certainty, each.fastest));
  }
  return lines;
}

}  // namespace kiln::cli
