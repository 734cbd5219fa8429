// SPDX-License-Identifier: Apache-2.0
#include "search/replay.hpp"

#include <algorithm>

#include "core/statistics.hpp"
#include "search/strategy.hpp"

namespace kiln {
namespace {

constexpr double kBudgetShare = 0.95;  // of the way from the median to the optimum

// Expected minimum of `draws` of the sorted `times` and of `failures` that have none, drawn without
// replacement, given that not all draws are failures.
double expected_best(const std::vector<double>& times, std::size_t failures, std::size_t draws) {
  double left = static_cast<double>(times.size() + failures);  // configs not better than the i-th
  const auto drawn = static_cast<double>(draws);
  double none_better = 1;  // probability that no draw is among the first i
  double sum = 0;
  for (const double time : times) {
    const double none_so_far = std::max(0.0, none_better * (left - drawn) / left);
    sum += time * (none_better - none_so_far);
    none_better = none_so_far;
    left -= 1;
    if (none_better < 1e-15) break;
  }
  return sum / (1 - none_better);
}

// The best time after each of `count` evaluations; `unknown_ns` while all failed.
std::vector<double> found_times(const RecordedSpace& recorded, Strategy& strategy,
                                std::size_t count, double unknown_ns) {
  std::vector<double> found;
  double best = unknown_ns;
  while (found.size() < count) {
    const std::optional<std::size_t> index = strategy.ask();
    if (!index) break;
    Trial trial;
    trial.config = recorded.space.at(*index);
    trial.outcome = recorded.results[*index].outcome;
    trial.time_ns = recorded.results[*index].time_ns;
    if (trial.ok()) best = std::min(best, trial.time_ns);
    found.push_back(best);
    strategy.tell(*index, trial);
  }
  found.resize(count, best);  // the space is exhausted
  return found;
}

}  // namespace

ReplayTarget replay_target(const RecordedSpace& recorded) {
  std::vector<double> times;
  for (const RecordedResult& result : recorded.results) {
    if (result.outcome == Outcome::ok) times.push_back(result.time_ns);
  }
  std::sort(times.begin(), times.end());
  ReplayTarget target;
  target.optimum_ns = times.front();
  target.worst_ns = times.back();
  target.median_ns = median(times);
  const double goal = target.median_ns - kBudgetShare * (target.median_ns - target.optimum_ns);
  const std::size_t failures = recorded.results.size() - times.size();
  for (std::size_t draws = 1; draws <= recorded.results.size(); ++draws) {
    const double best = expected_best(times, failures, draws);
    if (best <= target.optimum_ns) break;  // nothing left to compare with
    target.baseline_ns.push_back(best);
    if (best <= goal) break;
  }
  return target;
}

ReplayScore replay(const RecordedSpace& recorded, const ReplayTarget& target,
                   const std::string& strategy, std::uint64_t seed) {
  const std::size_t budget = target.baseline_ns.size();
  const std::size_t count = std::max(budget, kShareCounts.back());
  const auto running = make_strategy(strategy, recorded.space, seed);
  const std::vector<double> found = found_times(recorded, *running, count, target.worst_ns);
  ReplayScore score;
  for (std::size_t n = 0; n < budget; ++n) {
    score.score += (target.baseline_ns[n] - found[n]) /
                   (target.baseline_ns[n] - target.optimum_ns) / static_cast<double>(budget);
  }
  for (std::size_t i = 0; i < kShareCounts.size(); ++i) {
    score.shares[i] = target.optimum_ns / found[kShareCounts[i] - 1];
  }
  return score;
}

ReplayScore mean(const std::vector<ReplayScore>& scores) {
  ReplayScore out;
  const auto count = static_cast<double>(scores.size());
  for (const ReplayScore& each : scores) {
    out.score += each.score / count;
    for (std::size_t i = 0; i < out.shares.size(); ++i) out.shares[i] += each.shares[i] / count;
  }
  return out;
}

}  // namespace kiln
