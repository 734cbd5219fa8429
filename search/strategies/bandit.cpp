// bandit: shares the trials among other strategies by what each of them found lately.
//
// Source: the AUC bandit of Ansel et al.: "OpenTuner: an extensible framework for program
// autotuning" (2014), after Fialho et al. (2010). A strategy's credit is the area under the curve
// of its successes (a new best) in a window of the last trials, late ones counting more, plus a
// bonus for the seldom used. All strategies are told all trials.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::array kArms = {"local", "annealing", "genetic", "evolution", "swarm"};
constexpr std::size_t kWindow = 100;
constexpr double kBonus = 0.05;  // C of the paper: how much the seldom used are favoured

struct Use {
  std::size_t arm = 0;
  bool success = false;
};

class Bandit final : public StrategyBase {
 public:
  Bandit(const Space& space, std::uint64_t seed) : StrategyBase(space, seed) {
    for (const char* arm : kArms) {
      arms_.push_back(make_strategy(arm, space, random().below(UINT64_MAX)));
    }
  }

 private:
  std::optional<std::size_t> propose() override {
    const std::size_t arm = next_arm();
    while (const std::optional<std::size_t> index = arms_[arm]->ask()) {
      if (is_taken(*index)) continue;  // another one asked for it; its trial comes to all
      asked_by_[*index] = arm;
      return index;
    }
    return untried();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    const bool success = trial.ok() && trial.time_ns < best_ns_;
    if (success) best_ns_ = trial.time_ns;
    for (const auto& arm : arms_) arm->tell(index, trial);
    const auto asked = asked_by_.find(index);
    if (asked == asked_by_.end()) return;
    window_.push_back({asked->second, success});
    if (window_.size() > kWindow) window_.pop_front();
    asked_by_.erase(asked);
  }

  std::size_t next_arm() {
    std::vector<double> area(arms_.size(), 0);
    std::vector<double> uses(arms_.size(), 0);
    for (const Use& use : window_) {
      uses[use.arm] += 1;
      if (use.success) area[use.arm] += uses[use.arm];
    }
    for (const auto& [index, arm] : asked_by_) uses[arm] += 1;
    std::size_t best = 0;
    double most = -1;
    const std::size_t first = random().below(arms_.size());  // ties go to a random one
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const std::size_t arm = (first + i) % arms_.size();
      const double n = uses[arm];
      const double credit =
          n == 0 ? std::numeric_limits<double>::infinity()
                 : 2 * area[arm] / (n * (n + 1)) +
                       kBonus * std::sqrt(2 * std::log(static_cast<double>(kWindow)) / n);
      if (credit <= most) continue;
      most = credit;
      best = arm;
    }
    return best;
  }

  std::vector<std::unique_ptr<Strategy>> arms_;
  std::deque<Use> window_;
  std::unordered_map<std::size_t, std::size_t> asked_by_;  // config asked, not yet told -> arm
  double best_ns_ = std::numeric_limits<double>::infinity();
};

}  // namespace

StrategyEntry bandit_strategy() {
  return strategy_entry<Bandit>(
      "shares the trials among local, annealing, genetic, evolution and swarm");
}

}  // namespace kiln
