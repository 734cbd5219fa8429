// Counts the tiles that configs of one kernel have on one problem.
//
// A lookup asks this of some dozens of configs on each of several problems, and most of what the
// expressions of a spec see is the same for all of them: device and problem are evaluated once, and
// names are looked up once for each variant. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/scope.hpp"

namespace kiln {

/// The first launch of a config, were compute units without end, so that no block walks from one
/// tile to the next. What a config launches behind it (to combine what blocks left) goes over the
/// results, and is much the same for all configs.
struct Tiles {
  double blocks = 1;              ///< as many as there are tiles
  std::int64_t threads = 1;       ///< of a block
  std::int64_t shared_bytes = 0;  ///< of a block, dynamic
};

class TileCounter {
 public:
  /// `spec` must outlive it.
  TileCounter(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device);
  TileCounter(const TileCounter&) = delete;  // its parts point at each other
  TileCounter& operator=(const TileCounter&) = delete;

  /// nullopt where the config has none: its variant is not one of the spec, its grid no number.
  /// Whether it is legal is not looked at.
  [[nodiscard]] std::optional<Tiles> operator()(const Config& config);

 private:
  /// An expression, and where the values of its names stand.
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

  /// The expressions of a variant that its grids depend on. Values stand in slots, one for each
  /// name.
  class VariantGrids {
   public:
    VariantGrids(const Variant& variant, const Scope& scope);
    /// Throws EvaluationError.
    [[nodiscard]] std::optional<Tiles> tiles(const Config& config);

   private:
    struct SlottedDerived {
      Slotted expression;
      std::size_t slot = 0;
      Value value;  ///< of the config that is asked about
    };
    [[nodiscard]] std::size_t slot_of(std::string_view name);
    [[nodiscard]] Slotted slotted(const Expression& expression);
    [[nodiscard]] std::vector<Slotted> slotted(const std::vector<Expression>& expressions);
    void set(const Config& config);
    [[nodiscard]] const std::vector<const Value*>& values_for(const Slotted& expression);
    [[nodiscard]] std::optional<bool> is_launched(const SlottedStep& step);
    [[nodiscard]] std::optional<double> product(const std::vector<Slotted>& extents);

    std::map<std::string_view, std::size_t> slot_by_name_;
    std::vector<SlottedDerived> derived_;
    std::vector<SlottedStep> steps_;            ///< launches
    std::vector<const Value*> of_all_configs_;  ///< slot by slot: problem and device
    std::vector<const Value*> slots_;           ///< with those of the config
    std::vector<const Value*> arguments_;       ///< of the expression that is evaluated
  };

  const KernelSpec& spec_;
  std::optional<Scope> scope_;  ///< none where the spec cannot evaluate the problem
  std::map<const Variant*, VariantGrids> grids_;
};

}  // namespace kiln
