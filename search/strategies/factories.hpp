// The factories that register.cpp registers, one per file of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "search/prior.hpp"
#include "search/strategy.hpp"

namespace kiln {

[[nodiscard]] std::unique_ptr<Strategy> make_exhaustive(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_local(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_multistart(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_annealing(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_genetic(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_evolution(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_swarm(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_bayesian(const Space& space, std::uint64_t seed,
                                                      const Prior* prior);
[[nodiscard]] std::unique_ptr<Strategy> make_bandit(const Space& space, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_auto(const Space& space, std::uint64_t seed,
                                                  const Prior* prior);

}  // namespace kiln
