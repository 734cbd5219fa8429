// SPDX-License-Identifier: Apache-2.0
#include "lookup/tile_counter.hpp"

#include <cmath>
#include <cstdint>
#include <variant>

namespace kiln {
namespace {

constexpr double kMostThreads = 1 << 20;  // of a block: more than any device takes

/// As many compute units as tiles could be.
DeviceInfo without_end(DeviceInfo device) {
  device.compute_units = std::int64_t{1} << 24;
  return device;
}

// What Expression::evaluate_int() gives for a value that it takes.
std::optional<std::int64_t> whole_number(const std::optional<Value>& value) {
  constexpr double kLimit = 0x1p63;
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&*value)) return *number;
  if (const auto* truth = std::get_if<bool>(&*value)) return *truth ? 1 : 0;
  const auto* real = std::get_if<double>(&*value);
  if (real == nullptr || std::trunc(*real) != *real) return std::nullopt;
  if (!(*real >= -kLimit && *real < kLimit)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

}  // namespace

TileCounter::VariantGrids::VariantGrids(const Variant& variant, const Scope& scope) {
  for (const Derived& derived : variant.derived) {
    derived_.push_back({slotted(derived.value), slot_of(derived.name), {}});
  }
  for (const Step& step : variant.steps) {
    if (step.kind != StepKind::launch) continue;
    SlottedStep& launch = steps_.emplace_back();
    if (step.when) launch.when = slotted(*step.when);
    launch.grid = slotted(step.grid);
    launch.block = slotted(step.block);
    if (step.shared_bytes) launch.shared_bytes = slotted(*step.shared_bytes);
  }
  of_all_configs_.resize(slot_by_name_.size());
  for (const auto& [name, slot] : slot_by_name_) of_all_configs_[slot] = scope.find(name);
}

std::size_t TileCounter::VariantGrids::slot_of(std::string_view name) {
  return slot_by_name_.emplace(name, slot_by_name_.size()).first->second;
}

TileCounter::Slotted TileCounter::VariantGrids::slotted(const Expression& expression) {
  Slotted out{&expression, {}};
  for (const std::string& name : expression.names()) out.slots.push_back(slot_of(name));
  return out;
}

std::vector<TileCounter::Slotted> TileCounter::VariantGrids::slotted(
    const std::vector<Expression>& expressions) {
  std::vector<Slotted> out;
  for (const Expression& expression : expressions) out.push_back(slotted(expression));
  return out;
}

// Evaluates what is derived, as Setting::scope() does: what depends on a tunable that does not
// exist here does not exist either.
void TileCounter::VariantGrids::set(const Config& config) {
  slots_ = of_all_configs_;
  for (const auto& [name, value] : config.values) {
    const auto known = slot_by_name_.find(name);
    if (known != slot_by_name_.end()) slots_[known->second] = &value;
  }
  for (SlottedDerived& derived : derived_) {
    const Slotted& expression = derived.expression;
    std::optional<Value> value = expression.expression->evaluate(values_for(expression));
    if (!value) continue;
    derived.value = *std::move(value);
    slots_[derived.slot] = &derived.value;
  }
}

const std::vector<const Value*>& TileCounter::VariantGrids::values_for(const Slotted& expression) {
  arguments_.clear();
  for (const std::size_t slot : expression.slots) arguments_.push_back(slots_[slot]);
  return arguments_;
}

// A `when` that depends on a tunable that does not exist here is false, as in exists() of
// core/constraint_text.hpp.
bool TileCounter::VariantGrids::is_launched(const SlottedStep& step) {
  if (!step.when) return true;
  return step.when->expression->evaluate_truth(values_for(*step.when)).value_or(false);
}

std::optional<double> TileCounter::VariantGrids::product(const std::vector<Slotted>& extents) {
  double product = 1;
  for (const Slotted& extent : extents) {
    const auto value = whole_number(extent.expression->evaluate(values_for(extent)));
    if (!value) return std::nullopt;
    product *= static_cast<double>(*value);
  }
  return product;
}

std::optional<Tiles> TileCounter::VariantGrids::tiles(const Config& config) {
  set(config);
  for (const SlottedStep& step : steps_) {
    if (!is_launched(step)) continue;
    const std::optional<double> blocks = product(step.grid);
    const std::optional<double> threads = product(step.block);
    std::optional<std::int64_t> shared = 0;
    if (step.shared_bytes) {
      shared =
          whole_number(step.shared_bytes->expression->evaluate(values_for(*step.shared_bytes)));
    }
    if (!blocks || *blocks < 1 || !threads || *threads > kMostThreads || !shared) {
      return std::nullopt;
    }
    return Tiles{*blocks, static_cast<std::int64_t>(*threads), *shared};
  }
  return std::nullopt;
}

TileCounter::TileCounter(const Setting& setting)
    : setting_(setting.spec(), setting.problem(), without_end(setting.device())) {}

std::optional<Tiles> TileCounter::operator()(const Config& config) {
  const Variant* variant = setting_.spec().find_variant(config.variant);
  if (variant == nullptr) return std::nullopt;
  try {
    return grids_.try_emplace(variant, *variant, setting_.scope()).first->second.tiles(config);
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

}  // namespace kiln
