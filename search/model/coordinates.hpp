// Coordinates: a config as a point in which distance means something, for models and for strategies
// that move.
//
// One dimension a tunable name over all variants: ordered values lie at even steps from 0 to 1,
// texts are only equal or different. Whole numbers that are not all powers of two (16, 48, 80...)
// get a second dimension, the power of two that divides them: alignment matters on GPUs as much as
// size. With several variants the variant is a dimension too. Tunables that never vary have none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/space.hpp"

namespace kiln {

class Coordinates {
 public:
  explicit Coordinates(const Space& space);

  [[nodiscard]] std::size_t dimensions() const { return ordered_.size(); }
  /// May two different values of the dimension be more or less far apart?
  [[nodiscard]] bool is_ordered(std::size_t dimension) const { return ordered_[dimension]; }

  /// The point of a config: one number in [0, 1] a dimension, kNowhere where its tunable is absent.
  [[nodiscard]] std::vector<float> point(std::size_t index) const;
  static constexpr float kNowhere = -1;

  /// Difference of two points in one dimension: 0 to 1; 1 where only one of them is somewhere.
  [[nodiscard]] float difference(std::size_t dimension, float a, float b) const {
    if (a == b) return 0;
    if (!ordered_[dimension] || a == kNowhere || b == kNowhere) return 1;
    return a < b ? b - a : a - b;
  }

  /// Sum of the squared differences.
  [[nodiscard]] float squared_distance(const std::vector<float>& a,
                                       const std::vector<float>& b) const;

 private:
  /// What a tunable of a variant contributes to one dimension, by the index of its value.
  struct Source {
    std::size_t tunable;
    std::size_t dimension;
    std::vector<float> places;
  };
  void add_dimension(const std::string& name, const std::vector<Value>& values,
                     const std::vector<float>& places, bool ordered);

  const Space& space_;
  std::vector<std::vector<Source>> sources_;  // per variant
  std::vector<bool> ordered_;
  std::vector<float> variant_places_;  // per variant, in the first dimension; empty: one variant
};

}  // namespace kiln
