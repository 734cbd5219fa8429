// TileCounter: counts the tiles of a kernel's configs on one problem.
//
// A lookup counts some dozens of configs on each of several problems. Most values in the spec's
// expressions are the same for all configs. So device and problem are evaluated once, and names are
// looked up once per variant. One call of Setting::scope() per config would cost more. Private to
// lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/setting.hpp"

namespace kiln {

/// The first launch of a config on a device with unlimited compute units, so that no block walks
/// from one tile to the next. Later launches, which combine the results of blocks, are similar for
/// all configs and not counted.
struct Tiles {
  double blocks = 1;              ///< blocks, which is the number of tiles
  std::int64_t threads = 1;       ///< per block
  std::int64_t shared_bytes = 0;  ///< per block, dynamic
};

class TileCounter {
 public:
  explicit TileCounter(const Setting& setting);
  TileCounter(const TileCounter&) = delete;  // its parts point at each other
  TileCounter& operator=(const TileCounter&) = delete;

  /// Returns nullopt if the config has no tiles: its variant does not belong to the spec, or its
  /// grid is not a number. Does not check whether the config is legal.
  [[nodiscard]] std::optional<Tiles> operator()(const Config& config);

 private:
  /// An expression, and the slots of its names.
  struct Slotted {
    const Expression* expression = nullptr;
    std::vector<std::size_t> slots;
  };
  struct SlottedStep {
    std::optional<Slotted> when;
    std::vector<Slotted> grid;
    std::vector<Slotted> block;
    std::optional<Slotted> shared_bytes;
  };

  /// The expressions that the grids of a variant depend on. Each name has a slot for its value.
  class VariantGrids {
   public:
    VariantGrids(const Variant& variant, const Scope& scope);
    /// Throws EvaluationError.
    [[nodiscard]] std::optional<Tiles> tiles(const Config& config);

   private:
    struct SlottedDerived {
      Slotted expression;
      std::size_t slot = 0;
      Value value;  ///< value for the current config
    };
    [[nodiscard]] std::size_t slot_of(std::string_view name);
    [[nodiscard]] Slotted slotted(const Expression& expression);
    [[nodiscard]] std::vector<Slotted> slotted(const std::vector<Expression>& expressions);
    void set(const Config& config);
    [[nodiscard]] const std::vector<const Value*>& values_for(const Slotted& expression);
    [[nodiscard]] bool is_launched(const SlottedStep& step);
    [[nodiscard]] std::optional<double> product(const std::vector<Slotted>& extents);

    std::map<std::string_view, std::size_t> slot_by_name_;
    std::vector<SlottedDerived> derived_;
    std::vector<SlottedStep> steps_;            ///< launches
    std::vector<const Value*> of_all_configs_;  ///< per slot: the values of problem and device
    std::vector<const Value*> slots_;           ///< per slot, with the values of the config
    std::vector<const Value*> arguments_;       ///< arguments of the expression being evaluated
  };

  Setting setting_;  ///< with a device of unlimited compute units
  std::map<const Variant*, VariantGrids> grids_;
};

}  // namespace kiln
