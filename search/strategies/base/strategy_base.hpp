// StrategyBase: what every strategy needs and none should repeat: the default config first, nothing
// twice, and the seeded source of random numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "search/random.hpp"
#include "search/strategy.hpp"

namespace kiln {

/// Draws 0..count-1 in random order, without replacement. Memory grows with what was drawn, not
/// with count.
class RandomOrder {
 public:
  explicit RandomOrder(std::size_t count) : left_(count) {}
  [[nodiscard]] std::optional<std::size_t> next(Random& random);

 private:
  std::size_t left_;
  // A shuffled list, where it differs from 0, 1, 2...
  std::unordered_map<std::size_t, std::size_t> moved_;
};

class StrategyBase : public Strategy {
 public:
  StrategyBase(const Space& space, std::uint64_t seed)
      : space_(space), random_(seed), rest_(space.size()) {}

  [[nodiscard]] std::optional<std::size_t> ask() final;
  void tell(std::size_t index, const Trial& trial) final;

 protected:
  /// The next config; ask() throws std::logic_error if it is taken. nullopt: nothing now.
  [[nodiscard]] virtual std::optional<std::size_t> propose() = 0;
  /// A trial came in. `asked`: it was proposed here, and not told before.
  virtual void learn(std::size_t index, const Trial& trial, bool asked);

  /// Returns whether the config needs no trial: it was proposed or reported before, or the index
  /// names no legal config (Space::is_exact).
  [[nodiscard]] bool is_taken(std::size_t index) const {
    return taken_.count(index) > 0 || !space_.is_legal(index);
  }
  /// Takes configs off the end of `list` until one is not taken; nullopt: there is none.
  [[nodiscard]] std::optional<std::size_t> next_of(std::vector<std::size_t>& list) const;
  /// A legal config drawn from `range`, taken or not; nullopt: this proposal has used up its draws.
  /// Always a config in an exact space.
  [[nodiscard]] std::optional<std::size_t> sample(Space::Range range);
  /// A config drawn from those that are not taken; nullopt: none is left or, in a space that is not
  /// exact, none was found with the effort of one proposal.
  [[nodiscard]] std::optional<std::size_t> untried();
  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] Random& random() { return random_; }

 private:
  [[nodiscard]] std::optional<std::size_t> untried_of_many();

  const Space& space_;
  Random random_;
  RandomOrder rest_;
  std::unordered_set<std::size_t> taken_;
  std::unordered_set<std::size_t> pending_;  // asked, not yet told
  Effort draws_{0};                          // left to this proposal
};

}  // namespace kiln
