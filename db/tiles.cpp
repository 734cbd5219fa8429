// SPDX-License-Identifier: Apache-2.0
#include "db/tiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"

namespace kiln {
namespace {

// Fitted to sessions on an H200 (docs/lookup.md): the exponents of arithmetic and of memory alone,
// and how many operations for each byte it takes to be halfway between.
constexpr double kOfArithmetic = 0.7;
constexpr double kOfMemory = 0.1;
constexpr double kHalfway = 10;

/// Of those that are known, the lesser of two in the middle; nullopt of none.
std::optional<double> median(const std::vector<std::optional<double>>& all) {
  std::vector<double> growths;
  for (const std::optional<double>& growth : all) {
    if (growth) growths.push_back(*growth);
  }
  if (growths.empty()) return std::nullopt;
  const auto middle = static_cast<std::ptrdiff_t>((growths.size() - 1) / 2);
  std::nth_element(growths.begin(), growths.begin() + middle, growths.end());
  return growths[static_cast<std::size_t>(middle)];
}

}  // namespace

std::optional<double> tiles_of_busiest_unit(const KernelSpec& spec, const Config& config,
                                            const Problem& problem, const DeviceInfo& device) {
  return TileCounter(spec, problem, device)(config);
}

double tile_exponent(const ProblemCost& cost) {
  double per_byte = cost.flops / cost.bytes;
  if (!std::isfinite(per_byte) || per_byte < 0) per_byte = kHalfway;
  const double arithmetic = per_byte / (per_byte + kHalfway);
  return arithmetic * kOfArithmetic + (1 - arithmetic) * kOfMemory;
}

CarryOver::CarryOver(const KernelSpec& spec, const Problem& asked, const DeviceInfo& device)
    : spec_(spec), device_(device), tiles_here_(spec, asked, device) {
  try {
    reader_.emplace(spec, asked, device);
    exponent_ = tile_exponent(problem_cost(spec, asked, device));
  } catch (const EvaluationError&) {
    exponent_ = tile_exponent({});  // the spec cannot say
  }
}

const CarryOver::Here& CarryOver::here(const std::string& text) {
  const auto known = here_.find(text);
  if (known != here_.end()) return known->second;
  Here here;
  try {
    if (reader_) {
      here.config = (*reader_)(text);
      here.tiles = tiles_here_(here.config);
    }
  } catch (const Error&) {
    here.tiles.reset();  // no config of this spec
  }
  return here_.emplace(text, std::move(here)).first->second;
}

std::optional<double> CarryOver::growth_of(const std::string& config, TileCounter& tiles_there) {
  const Here& to = here(config);
  if (!to.tiles) return std::nullopt;
  const auto from = tiles_there(to.config);
  return from ? std::optional(exponent_ * std::log(*to.tiles / *from)) : std::nullopt;
}

std::vector<CloseConfig> CarryOver::operator()(std::vector<CloseConfig> configs,
                                               std::span<const std::string> bests,
                                               const Problem& measured) {
  TileCounter tiles_there(spec_, measured, device_);
  std::vector<std::optional<double>> good;
  for (const CloseConfig& close : configs) good.push_back(growth_of(close.config, tiles_there));
  const std::vector<std::optional<double>> own = good;
  for (const std::string& best : bests) {
    const bool known = std::any_of(configs.begin(), configs.end(),
                                   [&](const CloseConfig& each) { return each.config == best; });
    if (!known) good.push_back(growth_of(best, tiles_there));
  }
  const std::optional<double> usual = median(good);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (own[i]) configs[i].slowdown *= std::exp(*own[i] - *usual);
  }
  return configs;
}

}  // namespace kiln
