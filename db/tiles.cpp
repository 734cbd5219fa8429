// SPDX-License-Identifier: Apache-2.0
#include "db/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/constraint_text.hpp"
#include "core/errors.hpp"
#include "core/scope.hpp"

namespace kiln {
namespace {

// Fitted to sessions on an H200 (docs/lookup.md): the exponents of arithmetic and of memory alone,
// and how many operations for each byte it takes to be halfway between.
constexpr double kOfArithmetic = 0.7;
constexpr double kOfMemory = 0.1;
constexpr double kHalfway = 10;

/// As many compute units as tiles could be.
DeviceInfo without_end(DeviceInfo device) {
  device.compute_units = std::int64_t{1} << 24;
  return device;
}

// A `when` that depends on a tunable that does not exist here is false.
bool is_launched(const Step& step, const Scope& scope) {
  if (step.kind != StepKind::launch) return false;
  return !step.when || (evaluate_known(*step.when, scope) && holds(*step.when, scope));
}

double product(const std::vector<Expression>& extents, const Scope& scope) {
  double product = 1;
  for (const Expression& extent : extents) {
    product *= static_cast<double>(extent.evaluate_int(scope));
  }
  return product;
}

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
  const Variant* variant = spec.find_variant(config.variant);
  if (variant == nullptr) return std::nullopt;
  try {
    const Scope scope = make_scope(spec, *variant, config, problem, without_end(device));
    double blocks = 0;
    double most_threads = 0;
    for (const Step& step : variant->steps) {
      if (!is_launched(step, scope)) continue;
      const double of_step = product(step.grid, scope);
      const double threads = of_step * product(step.block, scope);
      if (threads <= most_threads) continue;
      most_threads = threads;
      blocks = of_step;
    }
    if (blocks < 1) return std::nullopt;
    const auto units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
    return std::ceil(blocks / units);
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

double tile_exponent(const ProblemCost& cost) {
  double per_byte = cost.flops / cost.bytes;
  if (!std::isfinite(per_byte) || per_byte < 0) per_byte = kHalfway;
  const double arithmetic = per_byte / (per_byte + kHalfway);
  return arithmetic * kOfArithmetic + (1 - arithmetic) * kOfMemory;
}

CarryOver::CarryOver(const KernelSpec& spec, const Problem& asked, const DeviceInfo& device)
    : spec_(spec), asked_(asked), device_(device) {
  try {
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
    here.config = parse_config(spec_, text, asked_, device_);
    here.tiles = tiles_of_busiest_unit(spec_, here.config, asked_, device_);
  } catch (const Error&) {
    here.tiles.reset();  // no config of this spec
  }
  return here_.emplace(text, std::move(here)).first->second;
}

std::optional<double> CarryOver::growth_of(const std::string& config, const Problem& measured) {
  const Here& to = here(config);
  if (!to.tiles) return std::nullopt;
  const auto from = tiles_of_busiest_unit(spec_, to.config, measured, device_);
  return from ? std::optional(exponent_ * std::log(*to.tiles / *from)) : std::nullopt;
}

std::vector<CloseConfig> CarryOver::operator()(std::vector<CloseConfig> configs,
                                               std::span<const std::string> bests,
                                               const Problem& measured) {
  std::vector<std::optional<double>> good;
  for (const CloseConfig& close : configs) good.push_back(growth_of(close.config, measured));
  const std::vector<std::optional<double>> own = good;
  for (const std::string& best : bests) {
    const bool known = std::any_of(configs.begin(), configs.end(),
                                   [&](const CloseConfig& each) { return each.config == best; });
    if (!known) good.push_back(growth_of(best, measured));
  }
  const std::optional<double> usual = median(good);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (own[i]) configs[i].slowdown *= std::exp(*own[i] - *usual);
  }
  return configs;
}

}  // namespace kiln
