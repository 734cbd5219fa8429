// SPDX-License-Identifier: Apache-2.0
#include "db/warm_start.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "db/candidates.hpp"
#include "db/close_configs.hpp"
#include "db/config_place.hpp"

namespace kiln {
namespace {

std::string place_of(const Candidate& candidate, const DeviceInfo& device) {
  if (candidate.grade == Grade::exact) return "this problem on this device";
  const DeviceInfo& measured = candidate.best->device_info;
  if (candidate.best->key.device == identity_of(device))
    return candidate.problem + " on this device";
  return fmt::format("{} on {}{}", candidate.problem, measured.name,
                     measured.backend == device.backend ? "" : " (" + measured.backend + ")");
}

class Collection {
 public:
  Collection(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
             std::size_t most)
      : spec_(spec), problem_(problem), device_(device), most_(most) {}

  [[nodiscard]] std::size_t size() const { return configs_.size(); }
  [[nodiscard]] bool full() const { return size() >= most_; }

  /// Takes the config unless it is illegal here or known.
  void add(const std::string& text, std::string from) {
    if (full()) return;
    Result<Config> legal = legal_config(spec_, text, problem_, device_);
    if (!legal) return;
    const bool known = std::any_of(configs_.begin(), configs_.end(),
                                   [&](const WarmConfig& each) { return each.config == *legal; });
    if (!known) configs_.push_back({std::move(*legal), std::move(from)});
  }

  [[nodiscard]] std::vector<WarmConfig> take() { return std::move(configs_); }

 private:
  const KernelSpec& spec_;
  const Problem& problem_;
  const DeviceInfo& device_;
  std::size_t most_;
  std::vector<WarmConfig> configs_;
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
      if (close.slowdown <= kCloseFactor) add(close.config);
    }
  }

 private:
  void add(const std::string& config) {
    constexpr double kUnlike = 2;  // steps
    ConfigPlace place(config);
    const bool is_alike = std::any_of(places_.begin(), places_.end(), [&](const auto& each) {
      return place.steps_to(each).value_or(kUnlike) < kUnlike;
    });
    if (is_alike) return;
    configs_.push_back(config);
    places_.push_back(std::move(place));
  }

  const Candidate* nearest_;
  std::vector<std::string> configs_;
  std::vector<ConfigPlace> places_;  ///< of the same
};

// Of the nearest problems around, without the one that is asked about: its own sessions know those.
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

}  // namespace

std::vector<WarmConfig> warm_configs(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device, std::span<const BestRecord> bests,
                                     std::size_t most) {
  const std::vector<Candidate> candidates =
      ranked_candidates(spec, problem, device, bests, Devices::any);
  Collection collection(spec, problem, device, most);
  for (const Candidate& candidate : candidates) {
    if (collection.size() >= kWarmConfigs) break;
    collection.add(candidate.best->config.text(), "the best of " + place_of(candidate, device));
  }
  if (collection.full()) return collection.take();
  // In rounds: a problem's second-best kind of config before the third-best of a nearer one.
  const std::vector<CloseOfProblem> around = close_around(candidates);
  for (std::size_t round = 0; round < kMaxClose; ++round) {
    for (const CloseOfProblem& each : around) {
      if (round >= each.configs().size()) continue;
      collection.add(each.configs()[round],
                     "close to the best of " + place_of(each.nearest(), device));
    }
  }
  for (const Candidate& candidate : candidates) {
    if (collection.full()) break;
    for (const CloseConfig& close : close_configs(*candidate.best)) {
      if (close.slowdown > kCloseFactor) continue;
      collection.add(close.config, "close to the best of " + place_of(candidate, device));
    }
  }
  return collection.take();
}

std::string with_warm_start(const std::string& evidence, std::span<const WarmConfig> warm) {
  Json json = Json::parse(evidence, nullptr, false);
  if (warm.empty() || !json.is_object()) return evidence;
  Json list = Json::array();
  for (const WarmConfig& each : warm) {
    list.push_back({{"config", each.config.text()}, {"from", each.from}});
  }
  json["warm_start"] = std::move(list);
  return json.dump();
}

}  // namespace kiln
