// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/base/strategy_base.hpp"

#include <stdexcept>
#include <string>

namespace kiln {
namespace {

// A space that is not exact is shuffled up to this size: what is not legal is drawn, too.
constexpr std::size_t kShuffled = 100'000;
// Efforts of one proposal: some 20 ms, and where those find nothing, another 150 ms.
constexpr std::size_t kDraws = 20'000;
constexpr std::size_t kScanSteps = 1'000'000;

}  // namespace

std::optional<std::size_t> StrategyBase::ask() {
  draws_ = Effort(kDraws);
  const std::size_t first = space_.default_index();
  const std::optional<std::size_t> index =
      is_taken(first) ? propose() : std::optional<std::size_t>(first);
  if (index) {
    // Whoever asks again for an untried config would never get one.
    if (is_taken(*index)) {
      throw std::logic_error("the strategy proposed config " + std::to_string(*index) +
                             ", which is taken or not legal");
    }
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

std::optional<std::size_t> StrategyBase::sample(Space::Range range) {
  if (!space_.is_exact()) return space_.sample(random_, range, draws_);
  Effort one(1);
  return space_.sample(random_, range, one);
}

std::optional<std::size_t> StrategyBase::untried() {
  if (!space_.is_exact() && space_.size() > kShuffled) return untried_of_many();
  std::optional<std::size_t> index = rest_.next(random_);
  while (index && is_taken(*index)) index = rest_.next(random_);
  return index;
}

std::optional<std::size_t> StrategyBase::untried_of_many() {
  while (const auto index = sample({0, space_.size()})) {
    if (!is_taken(*index)) return index;
  }
  Effort effort(kScanSteps);
  return space_.scan(
      random_, [this](std::size_t index) { return taken_.count(index) == 0; }, effort);
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
