// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/strategy_base.hpp"

namespace kiln {

std::optional<std::size_t> StrategyBase::ask() {
  const std::size_t first = space_.default_index();
  const std::optional<std::size_t> index =
      is_taken(first) ? propose() : std::optional<std::size_t>(first);
  if (index) {
    taken_.insert(*index);
    pending_.insert(*index);
  }
  return index;
}

void StrategyBase::tell(std::size_t index, const Trial& trial) {
  const bool asked = pending_.erase(index) == 1;
  taken_.insert(index);
  learn(index, trial, asked);
}

void StrategyBase::learn(std::size_t /*index*/, const Trial& /*trial*/, bool /*asked*/) {}

std::optional<std::size_t> StrategyBase::next_of(std::vector<std::size_t>& list) const {
  while (!list.empty()) {
    const std::size_t index = list.back();
    list.pop_back();
    if (!is_taken(index)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> StrategyBase::untried() {
  std::optional<std::size_t> index = rest_.next(random_);
  while (index && is_taken(*index)) index = rest_.next(random_);
  return index;
}

// Fisher and Yates's shuffle from the end, one step at a time.
std::optional<std::size_t> RandomOrder::next(Random& random) {
  if (left_ == 0) return std::nullopt;
  const auto value_at = [this](std::size_t place) {
    const auto moved = moved_.find(place);
    return moved == moved_.end() ? place : moved->second;
  };
  const std::size_t place = random.below(left_);
  const std::size_t drawn = value_at(place);
  --left_;
  moved_[place] = value_at(left_);
  moved_.erase(left_);
  return drawn;
}

}  // namespace kiln
