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

#include "core/device.hpp"
#include "core/problem.hpp"

namespace kiln {

/// Draws different legal problems with the compile-time fields of `problem`, never `problem`
/// itself.
///
/// A size is tiny, a small multiple of a power of two or next to one, anything (evenly in log
/// space), or what `problem` has. In half of these problems all are of one order of magnitude, and
/// in half of them one size in its turn is several tiles of 32 and a tail. One problem in six has
/// small multiples of powers of two from 16 to 128, so that tiles are full, and one in three
/// multiples of 8, so that vectors are. Sizes that are 1 unless a caller says otherwise are more in
/// most problems. A draw that is against a rule of the spec becomes a multiple of the sizes that
/// the rule names with it, or makes them its multiples. What is computed from other fields by
/// default (a distance between rows) differs from that now and then.
class ProblemDrawer {
 public:
  struct Limits {
    /// Of the CPU loop on each problem; its arguments have at most four times so many elements.
    double max_operations = 0;
    std::uint64_t seed = 0;  ///< the same seed draws the same problems everywhere
  };
  /// `spec` and `device` must outlive it.
  ProblemDrawer(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                const Limits& limits);
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
