// SPDX-License-Identifier: Apache-2.0
#include "lookup/warm_start.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/setting.hpp"
#include "db/close_configs.hpp"
#include "lookup/candidates.hpp"
#include "lookup/config_place.hpp"
#include "lookup/neighbours.hpp"

namespace kiln {
namespace {

std::string place_of(const Candidate& candidate, const Problem& problem, const DeviceInfo& device) {
  const DeviceInfo& measured = candidate.best->device_info;
  const std::string what = candidate.measured == problem ? "this problem" : candidate.problem;
  if (candidate.best->key.device == identity_of(device)) return what + " on this device";
  return fmt::format("{} on {}{}", what, measured.name,
                     measured.backend == device.backend ? "" : " (" + measured.backend + ")");
}

std::string best_of(const Candidate& candidate, const Problem& problem, const DeviceInfo& device) {
  return "the best of " + place_of(candidate, problem, device);
}

class Collection {
 public:
  Collection(Setting setting, std::size_t most) : setting_(std::move(setting)), most_(most) {}

  [[nodiscard]] std::size_t size() const { return configs_.size(); }
  [[nodiscard]] bool full() const { return size() >= most_; }

  /// Takes the config unless it is illegal here or known. Whether it is legal.
  bool add(const std::string& text, std::string from) {
    if (full()) return false;
    Result<Config> legal = setting_.launchable(text);
    if (!legal) return false;
    const bool known = std::any_of(configs_.begin(), configs_.end(),
                                   [&](const WarmConfig& each) { return each.config == *legal; });
    if (!known) configs_.push_back({std::move(*legal), std::move(from)});
    return true;
  }

  [[nodiscard]] std::vector<WarmConfig> take() { return std::move(configs_); }

 private:
  Setting setting_;
  std::size_t most_;
  std::vector<WarmConfig> configs_;
};

/// Configs each of which is two steps or more from those before it.
class UnlikeConfigs {
 public:
  [[nodiscard]] bool is_unlike(const std::string& config) const {
    constexpr double kUnlike = 2;
    const ConfigPlace place(config);
    return std::all_of(places_.begin(), places_.end(), [&](const ConfigPlace& each) {
      return place.steps_to(each).value_or(kUnlike) >= kUnlike;
    });
  }
  void add(const std::string& config) { places_.emplace_back(config); }

 private:
  std::vector<ConfigPlace> places_;
};

/// What came close on one problem, without what is nearly the same as something faster.
class CloseOfProblem {
 public:
  explicit CloseOfProblem(const Candidate& nearest) : nearest_(&nearest) {}

  /// The first of its rows, in the order in which a lookup asks them.
  [[nodiscard]] const Candidate& nearest() const { return *nearest_; }
  [[nodiscard]] const std::vector<std::string>& configs() const { return configs_; }

  void add_row(const BestRecord& best) {
    for (const CloseConfig& close : close_configs(best)) {
      if (close.slowdown > kCloseFactor || !unlike_.is_unlike(close.config)) continue;
      configs_.push_back(close.config);
      unlike_.add(close.config);
    }
  }

 private:
  const Candidate* nearest_;
  std::vector<std::string> configs_;
  UnlikeConfigs unlike_;  ///< the same
};

// Of the nearest tuned problems. The problem itself is left out: its own sessions know its configs.
std::vector<CloseOfProblem> close_around(std::span<const Candidate> candidates) {
  constexpr std::size_t kAround = 8;
  std::vector<CloseOfProblem> around;
  for (const Candidate& candidate : candidates) {
    if (candidate.grade == Grade::exact) continue;
    if (around.empty() || around.back().nearest().problem != candidate.problem) {
      if (around.size() == kAround) break;
      around.emplace_back(candidate);
    }
    around.back().add_row(*candidate.best);
  }
  return around;
}

// The configs with the best forecast from nearby problems, the first of each kind, until there are
// `kForecastConfigs`. Devices of other vendors do not take part.
void add_forecasts(Collection& collection, const Setting& setting,
                   std::span<const Candidate> candidates) {
  while (!candidates.empty() && candidates.front().grade == Grade::exact) {
    candidates = candidates.subspan(1);
  }
  if (candidates.empty() || candidates.front().grade == Grade::fallback) return;
  const NearbyBests neighbourhood = neighbourhood_of(setting, candidates);
  const auto origin_of = [&](const ExpectedConfig& expected) {
    for (const Candidate& each : candidates) {
      if (each.best->config.text() == expected.config)
        return best_of(each, setting.problem(), setting.device());
    }
    return fmt::format("forecast from {} nearby problem{}: {:.2f} times the best time",
                       neighbourhood.problems(), neighbourhood.problems() == 1 ? "" : "s",
                       expected.slowdown);
  };
  UnlikeConfigs unlike;
  for (const ExpectedConfig& expected : rank_configs(neighbourhood)) {
    if (collection.size() >= kForecastConfigs) return;
    if (!unlike.is_unlike(expected.config)) continue;
    if (collection.add(expected.config, origin_of(expected))) unlike.add(expected.config);
  }
}

}  // namespace

std::vector<WarmConfig> warm_configs(const Setting& setting, std::span<const BestRecord> bests,
                                     std::size_t most, Timing timing) {
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  const std::vector<Candidate> candidates = ranked_candidates(setting, bests, Devices::any, timing);
  Collection collection(setting, most);
  const auto add_best = [&](const Candidate& candidate) {
    if (collection.size() >= kWarmConfigs) return;
    collection.add(candidate.best->config.text(), best_of(candidate, problem, device));
  };
  for (const Candidate& candidate : candidates) {
    if (candidate.measured == problem && candidate.grade != Grade::fallback) add_best(candidate);
  }
  add_forecasts(collection, setting, candidates);
  for (const Candidate& candidate : candidates) add_best(candidate);
  if (collection.full()) return collection.take();
  // In rounds: a problem's second-best kind of config before the third-best of a nearer one.
  const std::vector<CloseOfProblem> around = close_around(candidates);
  for (std::size_t round = 0; round < kMaxClose; ++round) {
    for (const CloseOfProblem& each : around) {
      if (round >= each.configs().size()) continue;
      collection.add(each.configs()[round], "close to " + best_of(each.nearest(), problem, device));
    }
  }
  for (const Candidate& candidate : candidates) {
    if (collection.full()) break;
    for (const CloseConfig& close : close_configs(*candidate.best)) {
      if (close.slowdown > kCloseFactor) continue;
      collection.add(close.config, "close to " + best_of(candidate, problem, device));
    }
  }
  return collection.take();
}

void add_warm_start(Evidence& evidence, std::span<const WarmConfig> warm) {
  if (warm.empty()) return;
  evidence.warm_start.emplace();
  for (const WarmConfig& each : warm) {
    const std::string config = each.config.text();
    const bool is_finalist =
        std::any_of(evidence.finalists.begin(), evidence.finalists.end(),
                    [&](const Finalist& finalist) { return finalist.config == config; });
    if (is_finalist) evidence.warm_start->push_back({config, each.from});
  }
}

}  // namespace kiln
