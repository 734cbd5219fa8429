// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/strategy_base.hpp"

namespace kiln {

std::optional<std::size_t> StrategyBase::ask() {
  const std::size_t first = space_.default_index();
  const std::optional<std::size_t> index =
      is_taken(first) ? propose() : std::optional<std::size_t>(first);
  if (index) {
    taken_[*index] = true;
    pending_.insert(*index);
  }
  return index;
}

void StrategyBase::tell(std::size_t index, const Trial& trial) {
  const bool asked = pending_.erase(index) == 1;
  taken_.at(index) = true;
  learn(index, trial, asked);
}

void StrategyBase::learn(std::size_t /*index*/, const Trial& /*trial*/, bool /*asked*/) {}

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
