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

#include "core/config.hpp"
#include "core/device.hpp"
#include "db/close_configs.hpp"

namespace kiln {

/// Of the launch with the most threads. A tile counts whole, however little of it is in the
/// problem.
struct Tiles {
  double all = 1;              ///< blocks that there would be were compute units without end, so
                               ///< that none walks from one tile to the next
  double of_busiest_unit = 1;  ///< of `all`, dealt evenly to the compute units that there are
};

/// nullopt where the config has none: its variant is not one of the spec, its grid no number.
/// Whether it is legal is not looked at: a lookup counts the tiles of some dozens of configs.
[[nodiscard]] std::optional<Tiles> tiles_of(const KernelSpec& spec, const Config& config,
                                            const Problem& problem, const DeviceInfo& device);

/// How much the time should grow between the tiles of one problem and those of another, as a
/// logarithm: mostly with the tiles of the busiest unit, for whoever waits for it waits for all
/// (docs/lookup.md).
[[nodiscard]] double growth(const Tiles& from, const Tiles& to);

/// What was measured on other problems, carried over to one.
class CarryOver {
 public:
  /// All must outlive it.
  CarryOver(const KernelSpec& spec, const Problem& asked, const DeviceInfo& device)
      : spec_(spec), asked_(asked), device_(device) {}

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
    std::optional<Tiles> tiles;
  };
  /// The config, and its tiles on the problem asked for.
  [[nodiscard]] const Here& here(const std::string& text);
  [[nodiscard]] std::optional<double> growth_of(const std::string& config, const Problem& measured);

  const KernelSpec& spec_;
  const Problem& asked_;
  const DeviceInfo& device_;
  std::map<std::string, Here> here_;  ///< by text, those that were asked for
};

}  // namespace kiln
