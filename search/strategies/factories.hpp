// The factories that strategy.cpp registers, one per file of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "search/strategy.hpp"

namespace kiln {

[[nodiscard]] std::unique_ptr<Strategy> make_exhaustive(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_local(const Space& space, std::uint64_t seed);

}  // namespace kiln
