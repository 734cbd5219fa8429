// Tiles: how well the work that one block does at a time fits a problem. A config that is best
// where the sizes are multiples of its tile may do half as much again where they are not, or leave
// compute units idle where few tiles are left. Neither needs a measurement: the spec's grid tells
// both.
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

/// Tiles of the busiest compute unit: the blocks that the launch with the most threads would have
/// were compute units without end, so that none walks from one tile to the next, dealt evenly to
/// the units that there are. A tile counts whole, however little of it is in the problem.
///
/// nullopt where the config has none: its variant is not one of the spec, its grid no number.
/// Whether it is legal is not looked at. TileCounter is the same for many configs.
[[nodiscard]] std::optional<double> tiles_of_busiest_unit(const KernelSpec& spec,
                                                          const Config& config,
                                                          const Problem& problem,
                                                          const DeviceInfo& device);

/// The power of the busiest unit's tiles with which times grow from one problem to another: near 1
/// where units are busy with arithmetic, for whoever waits for the busiest one waits for all, near
/// 0 where all wait for the same memory (docs/lookup.md). Between them where the spec does not say
/// what the problem costs.
[[nodiscard]] double tile_exponent(const ProblemCost& cost);

/// What was measured on other problems, carried over to one.
class CarryOver {
 public:
  /// All must outlive it.
  CarryOver(const KernelSpec& spec, const Problem& asked, const DeviceInfo& device);

  /// What the slowdowns that were measured on one problem let expect on this one: a config whose
  /// time should grow by more than is usual has a larger one here. Usual is the median of these
  /// configs and of `bests`, those of all problems around: what is asked is how a config stands to
  /// the best here, and the best grows like those that are good around. The same configs in the
  /// same order; those without tiles keep theirs. May give slowdowns below 1.
  [[nodiscard]] std::vector<CloseConfig> operator()(std::vector<CloseConfig> configs,
                                                    std::span<const std::string> bests,
                                                    const Problem& measured);

 private:
  struct Here {
    Config config;
    std::optional<double> tiles;
  };
  /// The config, and its tiles on the problem asked for.
  [[nodiscard]] const Here& here(const std::string& text);
  /// How much its time should grow from the one problem to the other, as a logarithm.
  [[nodiscard]] std::optional<double> growth_of(const std::string& config,
                                                TileCounter& tiles_there);

  const KernelSpec& spec_;
  const DeviceInfo& device_;
  std::optional<ConfigReader> reader_;  ///< none where the spec cannot evaluate the problem
  TileCounter tiles_here_;
  double exponent_ = 0;
  std::map<std::string, Here> here_;  ///< by text, those that were asked for
};

}  // namespace kiln
