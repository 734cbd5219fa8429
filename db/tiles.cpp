// SPDX-License-Identifier: Apache-2.0
#include "db/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/errors.hpp"
#include "core/launch_plan.hpp"

namespace kiln {
namespace {

// Exponents, fitted to pairs of sessions on an H200 (docs/lookup.md).
constexpr double kByTiles = 0.6;
constexpr double kByBusiestUnit = 0.25;

/// As many compute units as tiles could be, and a grid for all of them.
DeviceInfo without_end(DeviceInfo device) {
  constexpr std::int64_t kUnits = std::int64_t{1} << 24;
  device.compute_units = kUnits;
  device.max_grid.fill(std::numeric_limits<std::uint32_t>::max());
  return device;
}

double blocks_of(const StepPlan& step) { return 1.0 * step.grid[0] * step.grid[1] * step.grid[2]; }

double threads_of(const StepPlan& step) {
  return blocks_of(step) * step.block[0] * step.block[1] * step.block[2];
}

/// All but the least quarter grow at least that much; nullopt of none.
std::optional<double> lower_quartile(const std::vector<std::optional<double>>& all) {
  std::vector<double> growths;
  for (const std::optional<double>& growth : all) {
    if (growth) growths.push_back(*growth);
  }
  if (growths.empty()) return std::nullopt;
  const auto quarter = static_cast<std::ptrdiff_t>(growths.size() / 4);
  std::nth_element(growths.begin(), growths.begin() + quarter, growths.end());
  return growths[static_cast<std::size_t>(quarter)];
}

}  // namespace

std::optional<Tiles> tiles_of(const KernelSpec& spec, const Config& config, const Problem& problem,
                              const DeviceInfo& device) {
  const Result<LaunchPlan> plan = make_launch_plan(spec, config, problem, without_end(device));
  if (!plan) return std::nullopt;
  const StepPlan* largest = nullptr;
  for (const StepPlan& step : plan->steps) {
    if (step.kind != StepKind::launch) continue;
    if (largest == nullptr || threads_of(step) > threads_of(*largest)) largest = &step;
  }
  if (largest == nullptr) return std::nullopt;
  const double all = blocks_of(*largest);
  const double units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  return Tiles{all, std::ceil(all / units)};
}

double growth(const Tiles& from, const Tiles& to) {
  return kByTiles * std::log(to.all / from.all) +
         kByBusiestUnit * std::log(to.of_busiest_unit / from.of_busiest_unit);
}

std::optional<Tiles> CarryOver::tiles(const std::string& config, const Problem& problem) const {
  try {
    return tiles_of(spec_, parse_config(spec_, config, problem, device_), problem, device_);
  } catch (const Error&) {
    return std::nullopt;  // no config of this spec
  }
}

std::optional<Tiles> CarryOver::tiles_here(const std::string& config) {
  const auto known = here_.find(config);
  if (known != here_.end()) return known->second;
  return here_.emplace(config, tiles(config, asked_)).first->second;
}

std::vector<std::optional<double>> CarryOver::growths(std::span<const std::string> configs,
                                                      const Problem& measured) {
  std::vector<std::optional<double>> all;
  for (const std::string& config : configs) {
    const std::optional<Tiles> to = tiles_here(config);
    const std::optional<Tiles> from = to ? tiles(config, measured) : std::nullopt;
    all.push_back(from ? std::optional(growth(*from, *to)) : std::nullopt);
  }
  return all;
}

std::vector<CloseConfig> CarryOver::operator()(std::vector<CloseConfig> configs,
                                               std::span<const std::string> others,
                                               const Problem& measured) {
  std::vector<std::string> names;
  for (const CloseConfig& close : configs) names.push_back(close.config);
  const std::vector<std::optional<double>> own = growths(names, measured);
  const std::optional<double> usual = lower_quartile(own);
  if (!usual) return configs;
  const double least = std::min(*usual, lower_quartile(growths(others, measured)).value_or(*usual));
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (own[i]) configs[i].slowdown *= std::exp(*own[i] - least);
  }
  return configs;
}

}  // namespace kiln
