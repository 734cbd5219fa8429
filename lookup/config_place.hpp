// ConfigPlace: the distance between two configs, so that a measurement of one says something about
// the other. Two long sessions end among different configs, many of them only a step apart.
//
// Uses only the text of a config, neither a spec nor a problem. Pure. Private to lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// A config as a point: its variant and tunables.
class ConfigPlace {
 public:
  /// Accepts any text. A text that is not a config is similar only to itself.
  explicit ConfigPlace(std::string_view text);

  [[nodiscard]] const std::string& variant() const { return variant_; }

  /// Returns the number of steps between two configs; it is symmetric. A tunable with numbers adds
  /// the doublings between the two values plus 1 (so that 0 works). A choice that differs adds half
  /// a step, a tunable that only one config has a whole step. Returns nullopt for another variant.
  [[nodiscard]] std::optional<double> steps_to(const ConfigPlace& other) const;

 private:
  friend class StepsTable;
  [[nodiscard]] double between(std::size_t own, const ConfigPlace& other, std::size_t theirs) const;
  [[nodiscard]] double steps_by_name(const ConfigPlace& other) const;

  std::string variant_;
  std::string all_names_;  ///< names of all tunables, in the order of the text
  // One entry per tunable, in that order.
  std::vector<std::string> names_;
  std::vector<std::string> texts_;
  std::vector<double> numbers_;  ///< log2(1 + value); NaN if the text is not a number
};

/// The steps between each pair of many configs. Configs with the same tunables in the same order,
/// as most of one variant are, are compared one tunable at a time for all of them.
class StepsTable {
 public:
  explicit StepsTable(std::span<const ConfigPlace> places);

  /// As ConfigPlace::steps_to; infinity for another variant.
  [[nodiscard]] double operator()(std::size_t a, std::size_t b) const {
    return steps_[a * count_ + b];
  }

 private:
  void fill(const std::vector<std::size_t>& alike);
  void fill(const std::vector<std::size_t>& some, const std::vector<std::size_t>& others);

  std::span<const ConfigPlace> places_;
  std::size_t count_;
  std::vector<double> steps_;  ///< row by row
};

}  // namespace kiln
