// A start with the configs that should be fastest, by the loops that the spec describes. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/prior.hpp"
#include "search/random.hpp"
#include "search/space.hpp"

namespace kiln {

/// Returns up to `count` configs, the fastest forecast first, from several hundred drawn from each
/// variant that describes its loop. Of equal forecasts, the configs nearest to the default come
/// first, at most two of them. Each config differs from those before it in several tunables, so
/// that one error of the forecast does not affect all. Empty if no variant describes its loop.
[[nodiscard]] std::vector<std::size_t> forecast_start(const Space& space, std::size_t count,
                                                      Random& random, const Prior& prior);

}  // namespace kiln
