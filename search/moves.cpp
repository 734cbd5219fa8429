// SPDX-License-Identifier: Apache-2.0
#include "search/moves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln {
namespace {

constexpr int kPasses = 2;  // a step may become legal only after a later one
constexpr int kSteps = 24;
constexpr int kStepsOfOneWalk = 4;

}  // namespace

std::size_t move_towards(const Space& space, std::size_t from,
                         const std::vector<ValueIndex>& wanted, Random& random) {
  SpaceRow row = space.row(from);
  std::vector<std::size_t> order(row.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  std::size_t reached = from;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const std::size_t t : order) {
      const ValueIndex before = row.values[t];
      if (wanted[t] == before || wanted[t] == kAbsent || before == kAbsent) continue;
      row.values[t] = wanted[t];
      if (const auto index = space.index_of(row)) {
        reached = *index;
      } else {
        row.values[t] = before;
      }
    }
  }
  return reached;
}

ValueIndex value_at(double position, std::size_t count) {
  const double last = static_cast<double>(count) - 1;
  return static_cast<ValueIndex>(std::lround(std::clamp(position, 0.0, last)));
}

std::size_t random_neighbour(const Space& space, std::size_t index, Random& random) {
  const std::vector<std::size_t> near = space.neighbours(index, Neighbourhood::hamming);
  return near.empty() ? index : near[random.below(near.size())];
}

std::optional<std::size_t> counterpart(const Space& space, std::size_t index, std::size_t variant,
                                       Random& random) {
  const std::vector<std::size_t>& defaults = space.default_indices();
  const auto usual = std::find_if(defaults.begin(), defaults.end(), [&](std::size_t each) {
    return space.row(each).variant == variant;
  });
  if (usual == defaults.end()) return std::nullopt;
  const SpaceRow from = space.row(index);
  const std::vector<SpaceTunable>& known = space.tunables(from.variant);
  const std::vector<SpaceTunable>& wanted = space.tunables(variant);
  SpaceRow row = space.row(*usual);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const SpaceTunable& each) {
      return each.name == wanted[t].name;
    });
    if (same == known.end() || row.values[t] == kAbsent) continue;
    const ValueIndex value = from.values[static_cast<std::size_t>(same - known.begin())];
    if (value == kAbsent) continue;
    const auto found =
        std::find(wanted[t].values.begin(), wanted[t].values.end(), same->values[value]);
    if (found == wanted[t].values.end()) continue;
    row.values[t] = static_cast<ValueIndex>(found - wanted[t].values.begin());
  }
  if (const auto all = space.index_of(row)) return all;
  return move_towards(space, *usual, row.values, random);
}

std::optional<std::size_t> free_place_near(const Space& space, std::size_t index, Random& random,
                                           const std::function<bool(std::size_t)>& is_taken) {
  std::size_t place = index;
  for (int step = 0; step < kSteps; ++step) {
    if (!is_taken(place)) return place;
    place = random_neighbour(space, step % kStepsOfOneWalk == 0 ? index : place, random);
  }
  return std::nullopt;
}

}  // namespace kiln
