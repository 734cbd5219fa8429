// Steps between legal configs, for strategies that move. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "search/random.hpp"
#include "search/space.hpp"

namespace kiln {

/// Moves a config towards `wanted`, tunable by tunable in random order, and keeps each legal step.
/// So it returns a config even if `wanted` is not in the space. A tunable that one of them lacks
/// does not change. Both must be of one variant.
[[nodiscard]] std::size_t move_towards(const Space& space, std::size_t from,
                                       const std::vector<ValueIndex>& wanted, Random& random);

/// The value at `position` in a list of `count`, rounded and held inside; for strategies that
/// calculate with values.
[[nodiscard]] ValueIndex value_at(double position, std::size_t count);

/// A random hamming neighbour; the config itself where it has none.
[[nodiscard]] std::size_t random_neighbour(const Space& space, std::size_t index, Random& random);

/// Returns the config of another variant that is most like this one. Starts at the default config
/// of `variant` (a position among those in the space), and moves tunables of the same names towards
/// the values here. nullopt: that default config is not in the space.
[[nodiscard]] std::optional<std::size_t> counterpart(const Space& space, std::size_t index,
                                                     std::size_t variant, Random& random);

/// `index`, or the first config on a random walk from it that `is_taken` does not refuse; nullopt
/// when a few dozen steps did not suffice.
[[nodiscard]] std::optional<std::size_t> free_place_near(
    const Space& space, std::size_t index, Random& random,
    const std::function<bool(std::size_t)>& is_taken);

}  // namespace kiln
