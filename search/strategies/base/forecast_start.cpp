// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/base/forecast_start.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kiln {
namespace {

constexpr std::size_t kDrawnPerVariant = 800;
constexpr std::size_t kMostTries = 20'000;  // where few indices name legal configs
constexpr std::size_t kApart = 3;           // tunables in which two configs of a start differ
constexpr std::size_t kAlike = 2;           // configs of one forecast: more would say little new

struct Candidate {
  double time_ns = 0;
  std::size_t changes = 0;  // tunables that are not at their default, which somebody chose
  std::size_t index = 0;
  SpaceRow row;
  [[nodiscard]] auto order() const { return std::tuple(time_ns, changes, index); }
};

std::vector<std::size_t> drawn_configs(const Space& space, Space::Range range, Random& random) {
  std::vector<std::size_t> drawn;
  Effort effort(kMostTries);
  while (drawn.size() < kDrawnPerVariant) {
    const auto index = space.sample(random, range, effort);
    if (!index) break;
    drawn.push_back(*index);
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

std::size_t differences(const SpaceRow& a, const SpaceRow& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) count += a.values[i] != b.values[i] ? 1 : 0;
  return count;
}

bool is_near(const SpaceRow& a, const SpaceRow& b) {
  return a.variant == b.variant && differences(a, b) < kApart;
}

/// Of the variant whose default config is `chosen`.
void add_candidates(std::vector<Candidate>& candidates, const Space& space, std::size_t chosen,
                    Random& random, const Prior& prior) {
  const auto of_default = prior.forecast(space.at(chosen));
  if (!of_default || !of_default->has_loop) return;
  const SpaceRow defaults = space.row(chosen);
  for (const std::size_t index : drawn_configs(space, space.variant_range(chosen), random)) {
    const std::optional<Forecast> forecast = prior.forecast(space.at(index));
    if (!forecast || !forecast->has_loop) continue;
    SpaceRow row = space.row(index);
    const std::size_t changes = differences(row, defaults);
    candidates.push_back({forecast->time_ns, changes, index, std::move(row)});
  }
}

}  // namespace

std::vector<std::size_t> forecast_start(const Space& space, std::size_t count, Random& random,
                                        const Prior& prior) {
  std::vector<Candidate> candidates;
  for (const std::size_t chosen : space.default_indices()) {
    add_candidates(candidates, space, chosen, random, prior);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); });
  std::vector<const Candidate*> start;
  for (const Candidate& candidate : candidates) {
    if (start.size() == count) break;
    const auto alike = std::count_if(start.begin(), start.end(), [&](const Candidate* other) {
      return other->time_ns == candidate.time_ns;
    });
    const bool is_new = std::none_of(start.begin(), start.end(), [&](const Candidate* other) {
      return is_near(candidate.row, other->row);
    });
    if (is_new && static_cast<std::size_t>(alike) < kAlike) start.push_back(&candidate);
  }
  std::vector<std::size_t> indices;
  for (const Candidate* candidate : start) indices.push_back(candidate->index);
  return indices;
}

}  // namespace kiln
