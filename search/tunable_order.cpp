// SPDX-License-Identifier: Apache-2.0
#include "search/tunable_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "search/value_counts.hpp"

namespace kiln {
namespace {

using expression::Register;

constexpr double kSmallPart = 4096;       // combinations below which the spec's own order will do
constexpr std::size_t kMaxImproved = 32;  // tunables of a part; the work grows with their square
constexpr int kMaxRounds = 4;             // of trying to move every tunable

// The needed registers and who needs them.
class NeededRegisters {
 public:
  NeededRegisters(const RuleSet& rules, const std::vector<bool>& ignored)
      : rules_(rules), part_(rules.variables().size()) {
    const std::size_t count = rules.network().steps().size();
    needed_.assign(count, false);
    variable_.assign(count, kNone);
    for (std::size_t v = 0; v < rules.variables().size(); ++v) {
      variable_[rules.variables()[v].reg] = v;
      needed_[rules.variables()[v].reg] = true;
    }
    for (std::size_t r = 0; r < rules.rules().size(); ++r) {
      if (ignored[r]) continue;
      for (const RuleOperand& operand : rules.rules()[r].operands) needed_[operand.reg] = true;
      used_rules_.push_back(r);
    }
    for (std::size_t reg = count; reg-- > 0;) {
      if (!needed_[reg]) continue;
      for (const Register operand : rules.network().steps()[reg].operands) needed_[operand] = true;
    }
    join_parts();
  }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // The variables that rules tie to variable v, as the smallest of them.
  [[nodiscard]] std::size_t part(std::size_t v) const {
    while (part_[v] != v) v = part_[v];
    return v;
  }
  // kNone for what depends on no variable.
  [[nodiscard]] std::size_t part_of_register(Register reg) const { return register_part_[reg]; }
  [[nodiscard]] bool is_needed(Register reg) const { return needed_[reg]; }
  [[nodiscard]] std::size_t variable(Register reg) const { return variable_[reg]; }
  [[nodiscard]] const std::vector<std::size_t>& used_rules() const { return used_rules_; }

 private:
  void join_parts() {
    std::iota(part_.begin(), part_.end(), std::size_t{0});
    const auto& steps = rules_.network().steps();
    std::vector<std::size_t> any(steps.size(), kNone);  // one variable that the register needs
    for (Register reg = 0; reg < steps.size(); ++reg) {
      any[reg] = variable_[reg];
      if (!needed_[reg] || any[reg] != kNone) continue;
      for (const Register operand : steps[reg].operands) {
        if (operand != reg) any[reg] = joined(any[reg], any[operand]);
      }
    }
    for (const std::size_t r : used_rules_) {
      std::size_t all = kNone;
      for (const RuleOperand& operand : rules_.rules()[r].operands) {
        all = joined(all, any[operand.reg]);
      }
    }
    for (std::size_t v = 0; v < part_.size(); ++v) {
      const auto& when = rules_.variables()[v].when;
      if (when) joined(v, any[rules_.rules()[*when].operands.front().reg]);
    }
    register_part_.assign(steps.size(), kNone);
    for (Register reg = 0; reg < steps.size(); ++reg) {
      if (any[reg] != kNone) register_part_[reg] = part(any[reg]);
    }
  }

  std::size_t joined(std::size_t a, std::size_t b) {
    if (a == kNone || b == kNone) return std::min(a, b);
    a = part(a);
    b = part(b);
    part_[std::max(a, b)] = std::min(a, b);
    return std::min(a, b);
  }

  const RuleSet& rules_;
  std::vector<bool> needed_;
  std::vector<std::size_t> variable_;  // per register
  std::vector<std::size_t> used_rules_;
  std::vector<std::size_t> part_;  // union-find over the variables; the root is the smallest
  std::vector<std::size_t> register_part_;
};

// Estimates the work of an order of one part.
class PartCost {
 public:
  PartCost(const RuleSet& rules, const NeededRegisters& needs,
           const std::vector<std::size_t>& members, ValueCounts& counts)
      : rules_(rules) {
    const std::size_t root = needs.part(members.front());
    std::vector<std::size_t> local(rules.network().steps().size(), NeededRegisters::kNone);
    for (Register reg = 0; reg < local.size(); ++reg) {
      if (!needs.is_needed(reg) || needs.part_of_register(reg) != root) continue;
      local[reg] = items_.size();
      Item item;
      item.variable = needs.variable(reg);
      item.log_values = std::log2(counts.of(reg));
      for (const Register operand : rules.network().steps()[reg].operands) {
        if (operand != reg && local[operand] != NeededRegisters::kNone)
          item.operands.push_back(local[operand]);
      }
      items_.push_back(std::move(item));
    }
    for (const std::size_t r : needs.used_rules()) {
      std::vector<std::size_t> uses;
      for (const RuleOperand& operand : rules.rules()[r].operands) {
        if (local[operand.reg] != NeededRegisters::kNone) uses.push_back(local[operand.reg]);
      }
      if (!uses.empty()) rule_uses_.push_back(std::move(uses));
    }
    for (const std::size_t v : members) {
      const auto& when = rules.variables()[v].when;
      if (!when) continue;
      const std::size_t use = local[rules.rules()[*when].operands.front().reg];
      if (use != NeededRegisters::kNone) when_uses_.emplace_back(v, use);
    }
    position_.resize(rules.variables().size());
    for (const RuleVariable& variable : rules.variables())
      log_values_.push_back(std::log2(counts.of(variable.reg)));
  }

  // Combinations of values to be looked at, summed over the levels. Infinite where a tunable comes
  // before those of its `when`.
  double of(const std::vector<std::size_t>& order) {
    for (std::size_t p = 0; p < order.size(); ++p) position_[order[p]] = p;
    for (Item& item : items_) {
      item.level = item.variable == NeededRegisters::kNone ? 0 : position_[item.variable] + 1;
      for (const std::size_t operand : item.operands) {
        item.level = std::max(item.level, items_[operand].level);
      }
      item.last_use = item.level;
    }
    for (const Item& item : items_) {
      for (const std::size_t operand : item.operands) use(operand, item.level);
    }
    for (const std::vector<std::size_t>& uses : rule_uses_) {
      std::size_t level = 0;
      for (const std::size_t item : uses) level = std::max(level, items_[item].level);
      for (const std::size_t item : uses) use(item, level);
    }
    for (const auto& [variable, item] : when_uses_) {
      if (items_[item].level > position_[variable]) return std::numeric_limits<double>::infinity();
      use(item, position_[variable] + 1);
    }
    return sum_over_levels(order);
  }

 private:
  struct Item {
    std::vector<std::size_t> operands;
    std::size_t variable = NeededRegisters::kNone;
    double log_values = 0;
    std::size_t level = 0;     // variables assigned when it is computed
    std::size_t last_use = 0;  // level at which it is needed for the last time
  };

  void use(std::size_t item, std::size_t level) {
    items_[item].last_use = std::max(items_[item].last_use, level);
  }

  [[nodiscard]] double sum_over_levels(const std::vector<std::size_t>& order) const {
    double sum = 0;
    double assigned = 0;
    for (std::size_t p = 0; p < order.size(); ++p) {
      double live = 0;
      for (const Item& item : items_) {
        if (item.level <= p && item.last_use > p) live += item.log_values;
      }
      sum += std::exp2(std::min(live, assigned)) *
             static_cast<double>(rules_.variables()[order[p]].values.size());
      assigned += log_values_[order[p]];
    }
    return sum;
  }

  const RuleSet& rules_;
  std::vector<Item> items_;
  std::vector<std::vector<std::size_t>> rule_uses_;
  std::vector<std::pair<std::size_t, std::size_t>> when_uses_;  // variable, item
  std::vector<std::size_t> position_;
  std::vector<double> log_values_;  // per variable
};

// Moves one variable at a time to where it makes the order cheapest, until nothing gets better.
void improve(std::vector<std::size_t>& order, PartCost& cost) {
  double best = cost.of(order);
  for (int round = 0; round < kMaxRounds; ++round) {
    const double before = best;
    for (std::size_t from = 0; from < order.size(); ++from) {
      std::vector<std::size_t> best_order = order;
      for (std::size_t to = 0; to < order.size(); ++to) {
        std::vector<std::size_t> candidate = order;
        const std::size_t moved = candidate[from];
        candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(from));
        candidate.insert(candidate.begin() + static_cast<std::ptrdiff_t>(to), moved);
        const double value = cost.of(candidate);
        // Clearly better: equal sums must not depend on how a machine rounds.
        if (value < best * (1 - 1e-9)) {
          best = value;
          best_order = std::move(candidate);
        }
      }
      order = std::move(best_order);
    }
    if (best == before) return;
  }
}

enum class Within { given, improved };  // the order of a part's tunables

TunableOrder order_parts(const RuleSet& rules, const std::vector<bool>& ignored, Within within) {
  const NeededRegisters needs(rules, ignored);
  ValueCounts counts(rules);
  const std::size_t count = rules.variables().size();
  TunableOrder order;
  for (std::size_t root = 0; root < count; ++root) {
    std::vector<std::size_t> members;
    double combinations = 1;
    for (std::size_t v = root; v < count; ++v) {
      if (needs.part(v) != root) continue;
      members.push_back(v);
      combinations *= static_cast<double>(rules.variables()[v].values.size());
    }
    if (members.empty()) continue;
    const bool is_worth_it =
        members.size() > 2 && members.size() <= kMaxImproved && combinations > kSmallPart;
    if (within == Within::improved && is_worth_it) {
      PartCost cost(rules, needs, members, counts);
      improve(members, cost);
    }
    order.parts.push_back(members.size());
    order.variables.insert(order.variables.end(), members.begin(), members.end());
  }
  return order;
}

}  // namespace

TunableOrder choose_order(const RuleSet& rules, const std::vector<bool>& ignored) {
  return order_parts(rules, ignored, Within::improved);
}

TunableOrder given_order(const RuleSet& rules, const std::vector<bool>& ignored) {
  return order_parts(rules, ignored, Within::given);
}

}  // namespace kiln
