// A start that spreads over the values of every tunable: Latin hypercube sampling (McKay, Beckman,
// Conover, 1979) for a space with holes. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/model/coordinates.hpp"
#include "search/prior.hpp"
#include "search/random.hpp"
#include "search/space.hpp"

namespace kiln {

/// Up to `count` different configs. Each dimension is cut into `count` strata; each next config is
/// the one, of a few hundred drawn from the space, whose strata were used least so far. Where no
/// constraint forbids it, that uses every stratum once. Fewer, or none, where legal configs are too
/// rare to be drawn (Space::sample). With a prior, hopeless configs are not
/// among those drawn unless there are no others.
[[nodiscard]] std::vector<std::size_t> latin_start(const Space& space,
                                                   const Coordinates& coordinates,
                                                   std::size_t count, Random& random,
                                                   const Prior* prior = nullptr);

}  // namespace kiln
