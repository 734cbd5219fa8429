// Problems drawn at random, for the checks of a config, in addition to those of
// tuner/rules/shrink_problem.hpp.
//
// Planned problems find the mistakes that somebody thought of: a tail, a full tile, one direction
// only. Drawn problems find some of the others, since they combine sizes in unplanned ways: more
// filters than a tile has together with groups, or a row that is longer than it must be. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/setting.hpp"

namespace kiln {

/// Draws different legal problems with the compile-time fields of the setting's problem, never that
/// problem itself.
///
/// - One problem in six has small multiples of powers of two from 16 to 128, so tiles are full.
/// - One in three has multiples of 8, so vectors are full and tiles have tails.
/// - In the others a size is tiny, a small multiple of a power of two or one off it, any number
///   (evenly in log space), or the size of the setting's problem. In half of them all sizes have
///   one order of magnitude. In half of them one size, each in turn, is several tiles of 32 and a
///   tail.
///
/// Sizes that are 1 by default are larger in most problems. If a size breaks a rule of the spec, it
/// becomes a multiple of the sizes that the rule names, or makes them its multiples. One in four
/// fields that are computed from others by default (a distance between rows) gets another value.
class ProblemDrawer {
 public:
  struct Limits {
    /// Operations of the CPU loop on each problem. Its arguments have at most four times as many
    /// elements.
    double max_operations = 0;
    std::uint64_t seed = 0;  ///< the same seed draws the same problems everywhere
  };
  /// Draws problems like the setting's; the setting's spec must outlive it.
  ProblemDrawer(const Setting& setting, const Limits& limits);
  ~ProblemDrawer();
  ProblemDrawer(ProblemDrawer&&) noexcept;

  /// Returns nullopt if there are no more, or if they are hard to find.
  [[nodiscard]] std::optional<Problem> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns whether all compile-time fields have the same values. A template sees no other fields,
/// so every config has the same source for both problems.
[[nodiscard]] bool shares_source(const KernelSpec& spec, const Problem& a, const Problem& b);

}  // namespace kiln
