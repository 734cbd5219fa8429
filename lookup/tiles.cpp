// SPDX-License-Identifier: Apache-2.0
#include "lookup/tiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "core/occupancy.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "core/trial.hpp"

namespace kiln {
namespace {

// Fitted to sessions on an H200 (docs/results/chosen_numbers.md): the exponents of arithmetic and
// of memory alone, and how many operations for each byte it takes to be halfway between.
constexpr double kOfArithmetic = 0.8;
constexpr double kOfMemory = 0.2;
constexpr double kHalfway = 10;

}  // namespace

double rounds_of_busiest_unit(const Tiles& tiles, const CloseConfig& needs,
                              const DeviceInfo& device) {
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double of_busiest = std::ceil(tiles.blocks / units);
  if (needs.registers < 0 || device.is_cpu) return of_busiest;
  const auto at_a_time = static_cast<double>(resident_blocks(
      {.threads = tiles.threads,
       .shared_bytes = tiles.shared_bytes + std::max<std::int64_t>(0, needs.shared_bytes),
       .registers = needs.registers},
      device));
  const double left = std::fmod(of_busiest, at_a_time);
  const double whole = (of_busiest - left) / at_a_time;
  return left > 0 ? whole + std::pow(left / at_a_time, kPartRound) : whole;
}

double tile_exponent(const ProblemCost& cost) {
  double per_byte = cost.flops / cost.bytes;
  if (!std::isfinite(per_byte) || per_byte < 0) per_byte = kHalfway;
  const double arithmetic = per_byte / (per_byte + kHalfway);
  return arithmetic * kOfArithmetic + (1 - arithmetic) * kOfMemory;
}

// None of what is no config of this spec, or has no tiles.
std::optional<CarryOver::Here> CarryOver::here(const CloseConfig& needs, TileCounter& count) const {
  try {
    Here here{&needs, asked_.parse(needs.config)};
    const std::optional<Tiles> tiles = count(here.config);
    if (!tiles) return std::nullopt;
    here.blocks = tiles->blocks;
    here.rounds = rounds_of_busiest_unit(*tiles, needs, asked_.device());
    return here;
  } catch (const Error&) {
    return std::nullopt;
  }
}

CarryOver::CarryOver(const Setting& asked, std::span<const CloseConfig> configs,
                     std::size_t eligible)
    : asked_(asked), exponent_(tile_exponent({})), eligible_(eligible), here_(configs.size()) {
  try {
    TileCounter count(asked);
    for (std::size_t i = 0; i < configs.size(); ++i) {
      here_[i] = here(configs[i], count);
    }
    exponent_ = tile_exponent(asked.cost());
  } catch (const EvaluationError&) {
    return;  // the spec cannot say
  }
}

CarryOver::Growth CarryOver::growth_of(std::size_t config, TileCounter& count,
                                       const DeviceInfo& there) const {
  const std::optional<Here>& here = here_[config];
  const std::optional<Tiles> tiles = here ? count(here->config) : std::nullopt;
  if (!tiles) return {};
  const double rounds = rounds_of_busiest_unit(*tiles, *here->needs, there);
  const bool one_block = tiles->blocks <= 1;
  return {exponent_ * std::log(here->rounds / rounds),
          one_block == (here->blocks <= 1) ? kMeasuredNoise : kOneBlockNoise};
}

std::vector<Carried> CarryOver::from(const Problem& measured, const DeviceInfo& there,
                                     std::span<const std::size_t> configs) const {
  TileCounter count({asked_.spec(), measured, there});
  std::vector<Growth> of_eligible;
  std::vector<double> known;
  for (std::size_t i = 0; i < eligible_; ++i) {
    of_eligible.push_back(growth_of(i, count, there));
    if (of_eligible.back().log_growth) known.push_back(*of_eligible.back().log_growth);
  }
  const double usual = median(std::move(known));
  std::vector<Carried> carried;
  for (const std::size_t config : configs) {
    const Growth growth =
        config < eligible_ ? of_eligible[config] : growth_of(config, count, there);
    carried.push_back({std::exp(growth.log_growth.value_or(usual) - usual), growth.noise});
  }
  return carried;
}

}  // namespace kiln
