// A start from what the spec says of its loops: the configs that should be fastest. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/prior.hpp"
#include "search/random.hpp"
#include "search/space.hpp"

namespace kiln {

/// Up to `count` configs in the order of their forecasts, of some hundred drawn from each variant
/// that describes its loop. Where forecasts are equal, what is nearer to the default config comes
/// first; no more than two of them are taken, and each config differs from those before it in
/// several tunables, so that an error of the forecast does not meet all. Empty where no variant of
/// the space describes its loop.
[[nodiscard]] std::vector<std::size_t> forecast_start(const Space& space, std::size_t count,
                                                      Random& random, const Prior& prior);

}  // namespace kiln
