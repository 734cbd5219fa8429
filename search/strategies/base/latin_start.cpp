// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/base/latin_start.hpp"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::size_t kDrawnPerConfig = 20;
constexpr std::size_t kMostDraws = 200'000;  // where few indices name legal configs

std::vector<std::size_t> drawn_configs(const Space& space, std::size_t count, Random& random,
                                       const Prior* prior) {
  std::vector<std::size_t> drawn;
  Effort effort(kMostDraws);
  while (drawn.size() < count * kDrawnPerConfig) {
    const auto index = space.sample(random, {0, space.size()}, effort);
    if (!index) break;
    drawn.push_back(*index);
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  if (prior != nullptr) drawn = hopeful(*prior, space, drawn, count);
  random.shuffle(drawn);  // ties go to the first
  return drawn;
}

// The stratum of a point in each dimension; one more stands for an absent tunable.
std::vector<std::size_t> strata_of(const std::vector<float>& point, std::size_t count) {
  std::vector<std::size_t> strata;
  for (const float place : point) {
    const auto stratum =
        static_cast<std::size_t>(std::max(place, 0.0F) * static_cast<float>(count));
    strata.push_back(place == Coordinates::kNowhere ? count : std::min(stratum, count - 1));
  }
  return strata;
}

}  // namespace

std::vector<std::size_t> latin_start(const Space& space, const Coordinates& coordinates,
                                     std::size_t count, Random& random, const Prior* prior) {
  std::vector<std::size_t> drawn = drawn_configs(space, count, random, prior);
  std::vector<std::vector<std::size_t>> strata;
  for (const std::size_t index : drawn)
    strata.push_back(strata_of(coordinates.point(index), count));
  std::vector<std::vector<std::size_t>> uses(coordinates.dimensions(),
                                             std::vector<std::size_t>(count + 1, 0));
  const auto used = [&uses](const std::vector<std::size_t>& of_config) {
    std::size_t sum = 0;
    for (std::size_t d = 0; d < of_config.size(); ++d) sum += uses[d][of_config[d]];
    return sum;
  };

  std::vector<std::size_t> start;
  while (start.size() < count && start.size() < drawn.size()) {
    // What is chosen moves to the front.
    const auto first = static_cast<std::ptrdiff_t>(start.size());
    const auto least =
        std::min_element(strata.begin() + first, strata.end(),
                         [&](const auto& a, const auto& b) { return used(a) < used(b); });
    const auto at = least - strata.begin();
    std::swap(strata[start.size()], *least);
    std::swap(drawn[start.size()], drawn[static_cast<std::size_t>(at)]);
    const std::vector<std::size_t>& chosen = strata[start.size()];
    for (std::size_t d = 0; d < chosen.size(); ++d) ++uses[d][chosen[d]];
    start.push_back(drawn[start.size()]);
  }
  return start;
}

}  // namespace kiln
