// Alike configs: what a session that never tried a config still tells of it, by what it measured
// of configs that are nearly the same. Long sessions end far from each other, each among configs
// of its own; that some of them are but a step apart must not look like ignorance.
//
// Pure. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/close_configs.hpp"

namespace kiln {

/// A config's tunables as places to measure between. Of its text alone: neither a spec nor a
/// problem is asked.
class ConfigPlace {
 public:
  /// Any text is taken; one that is no config is like itself only.
  explicit ConfigPlace(std::string_view text);

  /// Steps from this config to the other: of each tunable with numbers the doublings between the
  /// two (of the number and one, for the sake of 0), 1.5 at most; half a step for a choice that
  /// differs and a whole one for a tunable that the other does not have. nullopt of another variant
  /// or above `kAlike`.
  [[nodiscard]] std::optional<double> steps_to(const ConfigPlace& other) const;

  /// Configs further apart tell nothing of each other.
  static constexpr double kAlike = 4;

 private:
  struct Coordinate {
    std::string name;
    std::string text;
    std::optional<double> number;  ///< log2(1 + value)
  };
  [[nodiscard]] static double between(const Coordinate& a, const Coordinate& b);

  std::string variant_;
  std::string names_;                    ///< of all, in the order of the text
  std::vector<Coordinate> coordinates_;  ///< in the same order
};

/// What one problem tells of configs that were not measured on it.
class AlikeConfigs {
 public:
  /// Of what was measured.
  explicit AlikeConfigs(std::span<const CloseConfig> measured);

  /// The slowdown to expect: the mean of the logarithms of those measured, weighted by
  /// e^-steps (Nadaraya and Watson, 1964), and by a fifth `otherwise`, what is expected of
  /// configs of which nothing is known. nullopt when none is alike.
  [[nodiscard]] std::optional<double> slowdown_of(const ConfigPlace& config,
                                                  double otherwise) const;

 private:
  struct Measured {
    ConfigPlace place;
    double log_slowdown = 0;
  };
  std::vector<Measured> measured_;
};

}  // namespace kiln
