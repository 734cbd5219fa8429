// Tiles: how well the work that one block does at a time fits a problem. A config that is best
// where the sizes are multiples of its tile may do half as much again where they are not, or leave
// compute units idle where few tiles are left. Neither needs a measurement: the spec's grid tells
// both, and what the compiler said of a config tells how many of its tiles a unit has at a time.
//
// Pure. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config_reader.hpp"
#include "core/device.hpp"
#include "core/launch_plan.hpp"
#include "db/close_configs.hpp"
#include "db/tile_counter.hpp"

namespace kiln {

/// Rounds that the busiest compute unit goes through: tiles are dealt evenly to the units, and
/// a unit has as many at a time as fit. A last round that is not full counts by its share of the
/// blocks to the power of `kPartRound` (half of them: 0.76), for they have the unit to themselves.
/// A tile counts whole, however little of it is in the problem. Where `needs` does not tell
/// registers, tiles come one at a time.
[[nodiscard]] double rounds_of_busiest_unit(const Tiles& tiles, const CloseConfig& needs,
                                            const DeviceInfo& device);
inline constexpr double kPartRound = 0.4;

/// The power of the busiest unit's rounds with which times grow from one problem to another: near 1
/// where units are busy with arithmetic, for whoever waits for the busiest one waits for all, near
/// 0 where all wait for the same memory (docs/lookup.md). Between them where the spec does not say
/// what the problem costs.
[[nodiscard]] double tile_exponent(const ProblemCost& cost);

/// Two sessions differ by as much in what they measure of one config on much the same problem.
inline constexpr double kMeasuredNoise = 0.08;
/// Where one block did all the work on the one problem and several share it on the other: bringing
/// their results together is a step of its own, that the measurement knows nothing of.
inline constexpr double kOneBlockNoise = 1;

/// What a measurement on another problem is for the one asked about.
struct Carried {
  double factor = 1;              ///< to multiply the slowdown with
  double noise = kMeasuredNoise;  ///< standard deviation of the logarithm of the slowdown
};

/// What is known of configs on other problems, and other devices, carried over to one.
class CarryOver {
 public:
  /// `configs` are those of which something is known, each once; the first `eligible` of them may
  /// be the answer. All must outlive it.
  CarryOver(const KernelSpec& spec, const Problem& asked, const DeviceInfo& device,
            std::span<const CloseConfig> configs, std::size_t eligible);

  /// What slowdowns of that problem on that device are for the one asked about, of these configs
  /// (by their places in the list): their factor is above 1 for a config whose time should grow by
  /// more than is usual. Usual is the median of the eligible ones: what is asked is how a config
  /// stands to the best here, and the best grows like those that are good around. Those without
  /// tiles stay as they are.
  [[nodiscard]] std::vector<Carried> from(const Problem& measured, const DeviceInfo& there,
                                          std::span<const std::size_t> configs) const;

 private:
  struct Here {
    const CloseConfig* needs = nullptr;
    Config config;
    double blocks = 1;  ///< on the problem asked for
    double rounds = 0;  ///< likewise
  };
  [[nodiscard]] std::optional<Here> here(const CloseConfig& needs, ConfigReader& read,
                                         TileCounter& count) const;
  struct Growth {
    std::optional<double> log_growth;  ///< of the time, from there to here; none without tiles
    double noise = kMeasuredNoise;
  };
  [[nodiscard]] Growth growth_of(std::size_t config, TileCounter& count,
                                 const DeviceInfo& there) const;

  const KernelSpec& spec_;
  const DeviceInfo& device_;
  double exponent_ = 0;
  std::size_t eligible_ = 0;
  std::vector<std::optional<Here>> here_;  ///< of each config; none without tiles
};

}  // namespace kiln
