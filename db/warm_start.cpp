// SPDX-License-Identifier: Apache-2.0
#include "db/warm_start.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "db/candidates.hpp"
#include "db/close_configs.hpp"

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

  [[nodiscard]] bool full() const { return configs_.size() >= most_; }

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

}  // namespace

std::vector<WarmConfig> warm_configs(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device, std::span<const BestRecord> bests,
                                     std::size_t most) {
  const std::vector<Candidate> candidates =
      ranked_candidates(spec, problem, device, bests, Devices::any);
  Collection collection(spec, problem, device, most);
  for (const Candidate& candidate : candidates) {
    collection.add(candidate.best->config.text(), "the best of " + place_of(candidate, device));
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
