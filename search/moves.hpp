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

/// Goes from a config towards `wanted`, tunable by tunable in random order, keeping each step that
/// is legal: an answer where `wanted` itself is not in the space. Values that one of both lacks
/// stay as they are. Both must be of one variant.
[[nodiscard]] std::size_t move_towards(const Space& space, std::size_t from,
                                       const std::vector<ValueIndex>& wanted, Random& random);

/// The value at `position` in a list of `count`, rounded and held inside; for strategies that
/// calculate with values.
[[nodiscard]] ValueIndex value_at(double position, std::size_t count);

/// A random hamming neighbour; the config itself where it has none.
[[nodiscard]] std::size_t random_neighbour(const Space& space, std::size_t index, Random& random);

/// The config of another variant that is most like this one: its default config, or what is reached
/// on the way from there to the values that tunables of the same names have here. nullopt: the
/// default config of `variant` (a position among those in the space) is not in the space.
[[nodiscard]] std::optional<std::size_t> counterpart(const Space& space, std::size_t index,
                                                     std::size_t variant, Random& random);

/// `index`, or the first config on a random walk from it that `is_taken` does not refuse; nullopt
/// when a few dozen steps did not suffice.
[[nodiscard]] std::optional<std::size_t> free_place_near(
    const Space& space, std::size_t index, Random& random,
    const std::function<bool(std::size_t)>& is_taken);

}  // namespace kiln
