// evolution: differential evolution on the positions of values, "current to best".
//
// Source: Storn, Price: "Differential evolution - a simple and efficient heuristic for global
// optimization over continuous spaces" (1997). A member gives way to its successor when that one
// is faster; successors that are no legal configs are approached as far as they are legal.
// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <vector>

#include "search/moves.hpp"
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/population.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMembers = 20;
constexpr double kStep = 0.7;      // F of the paper
constexpr double kCrossing = 0.8;  // CR of the paper

class Evolution final : public StrategyBase {
 public:
  Evolution(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        start_(latin_start(space, Coordinates(space), kMembers, random())) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    if (members_.size() < 4) return untried();
    turn_ = (turn_ + 1) % members_.size();
    const auto place = free_place_near(space(), successor(turn_), random(),
                                       [this](std::size_t index) { return is_taken(index); });
    if (!place) return untried();
    contests_[*place] = turn_;
    return place;
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    const auto contest = contests_.find(index);
    const std::size_t rival = contest == contests_.end() ? members_.size() : contest->second;
    if (contest != contests_.end()) contests_.erase(contest);
    if (!trial.ok()) return;
    const Member member{index, trial.time_ns};
    if (rival < members_.size()) {
      if (member.ns < members_[rival].ns) members_[rival] = member;
    } else if (members_.size() < kMembers) {
      members_.push_back(member);
    } else if (member.ns < members_[best()].ns) {
      members_[random().below(members_.size())] = member;  // told by others
    }
  }

  [[nodiscard]] std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t m = 1; m < members_.size(); ++m) {
      if (members_[m].ns < members_[best].ns) best = m;
    }
    return best;
  }

  std::size_t successor(std::size_t member) {
    const SpaceRow here = space().row(members_[member].index);
    const SpaceRow best_row = space().row(members_[best()].index);
    const SpaceRow one = space().row(members_[random().below(members_.size())].index);
    const SpaceRow two = space().row(members_[random().below(members_.size())].index);
    if (best_row.variant != here.variant) return members_[best()].index;
    const bool comparable = one.variant == here.variant && two.variant == here.variant;
    std::vector<ValueIndex> wanted = here.values;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      if (random().unit() >= kCrossing || wanted[t] == kAbsent) continue;
      if (best_row.values[t] == kAbsent) continue;
      double position = wanted[t] + kStep * (best_row.values[t] - wanted[t]);
      if (comparable && one.values[t] != kAbsent && two.values[t] != kAbsent) {
        position += kStep * (one.values[t] - two.values[t]);
      }
      wanted[t] = value_at(position, space().tunables(here.variant)[t].values.size());
    }
    return move_towards(space(), members_[member].index, wanted, random());
  }

  std::vector<std::size_t> start_;
  std::vector<Member> members_;
  std::size_t turn_ = 0;
  std::unordered_map<std::size_t, std::size_t> contests_;  // config asked -> the member it meets
};

}  // namespace

StrategyEntry evolution_strategy() { return strategy_entry<Evolution>("differential evolution"); }

}  // namespace kiln
