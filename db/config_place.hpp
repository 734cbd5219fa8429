// ConfigPlace: how far apart two configs are, so that what was measured of one tells of the other.
// Long sessions end among configs of their own; that many of them are but a step apart must not
// look like ignorance.
//
// Of the text alone: neither a spec nor a problem is asked. Pure. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// A config's tunables as places to measure between.
class ConfigPlace {
 public:
  /// Any text is taken; one that is no config is like itself only.
  explicit ConfigPlace(std::string_view text);

  [[nodiscard]] const std::string& variant() const { return variant_; }

  /// Steps from this config to the other, and back: of each tunable with numbers the doublings
  /// between the two (of the number and one, for the sake of 0), half a step for a choice that
  /// differs, and a whole one for a tunable that only one of them has. nullopt of another variant.
  [[nodiscard]] std::optional<double> steps_to(const ConfigPlace& other) const;

 private:
  friend class StepsTable;
  [[nodiscard]] double between(std::size_t own, const ConfigPlace& other, std::size_t theirs) const;
  [[nodiscard]] double steps_by_name(const ConfigPlace& other) const;

  std::string variant_;
  std::string all_names_;  ///< of all tunables, in the order of the text
  // One of each for a tunable, in that order.
  std::vector<std::string> names_;
  std::vector<std::string> texts_;
  std::vector<double> numbers_;  ///< log2(1 + value); NaN where the text is no number
};

/// The steps between each two of many: a tunable at a time where their texts have the same ones in
/// the same places, as those of one variant mostly have.
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
