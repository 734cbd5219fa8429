// SPDX-License-Identifier: Apache-2.0
#include "search/diagram_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/expression/operations.hpp"
#include "search/bounds.hpp"
#include "search/level_plan.hpp"
#include "search/saturating.hpp"
#include "search/state_layer.hpp"
#include "search/value_counts.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;
using expression::Register;

constexpr std::uint32_t kCut = 0xFFFFFFFF;

struct BuildLimits {
  std::size_t states = 0;
  std::size_t work = 0;  // values tried in states
};

/// One attempt with some rules set aside.
class Attempt {
 public:
  Attempt(const RuleSet& rules, const Variant& variant, const std::vector<bool>& late,
          TunableOrder order, const BuildLimits& limits)
      : rules_(rules),
        variant_(variant),
        order_(std::move(order)),
        levels_(plan_levels(rules, order_, late)),
        bounds_(rules, levels_),
        limits_(limits),
        registers_(rules.network().registers()),
        cuts_(rules.reports()) {
    const std::size_t count = order_.variables.size();
    below_.assign(count + 1, 1);
    for (std::size_t p = count; p > 0; --p) {
      below_[p - 1] = saturating_multiply(below_[p], variable(p - 1).values.size());
    }
  }

  /// False if the limits did not suffice.
  bool forwards() {
    StateLayer layer({});
    if (passes(0, 1, {0, 0})) static_cast<void>(layer.add(registers_.data(), 1));
    states_ = layer.size();
    for (std::size_t p = 0; p < order_.variables.size(); ++p) {
      StateLayer next(levels_[p + 1].live);
      ways_.emplace_back();
      for (std::size_t state = 0; state < layer.size(); ++state) {
        layer.load(state, registers_.data());
        expand(p, {p, state}, layer.weight(state), next);
        work_ += columns_of(p);
        if (states_ + next.size() > limits_.states || work_ > limits_.work) {
          reached_ = p + 1;
          return false;
        }
      }
      states_ += next.size();
      layer = std::move(next);
    }
    ends_ = layer.size();
    return true;
  }

  BuiltDiagram backwards(std::vector<bool> late) && {
    DiagramWriter writer;
    std::vector<DiagramNode> below(ends_, Diagram::kEnd);
    std::vector<DiagramWriter::Way> ways;
    for (std::size_t p = order_.variables.size(); p-- > 0;) {
      writer.begin_level();
      const std::vector<std::uint32_t>& children = ways_[p];
      const std::size_t columns = columns_of(p);
      std::vector<DiagramNode> nodes;
      for (std::size_t first = 0; first < children.size(); first += columns) {
        ways.clear();
        for (std::size_t v = 0; v < columns; ++v) {
          const std::uint32_t child = children[first + v];
          if (child == kCut || below[child] == Diagram::kNone) continue;
          ways.push_back({value_at(p, v), below[child]});
        }
        nodes.push_back(writer.add(ways));
      }
      below = std::move(nodes);
      ways_[p] = {};
    }
    const DiagramNode root = below.empty() ? Diagram::kNone : below.front();
    return {std::move(writer).finish(root), std::move(order_), std::move(late), std::move(cuts_),
            states_};
  }

  /// After forwards() gave up: the rule that takes part in most different states there; nothing
  /// when no rule is left that could be set aside.
  [[nodiscard]] std::optional<std::size_t> widest_rule(const std::vector<bool>& late) const {
    ValueCounts counts(rules_);
    std::optional<std::size_t> widest;
    double most = -1;
    for (std::size_t r = 0; r < rules_.rules().size(); ++r) {
      if (late[r] || rules_.rules()[r].kind == Rule::Kind::when) continue;
      const double states = log_states_for(rules_.rules()[r], counts);
      if (states <= most) continue;
      most = states;
      widest = r;
    }
    return widest;
  }

 private:
  /// Where a combination stands: a state of the layer behind `level` assignments.
  struct Place {
    std::size_t level = 0;
    std::size_t state = 0;
  };

  [[nodiscard]] const RuleVariable& variable(std::size_t p) const {
    return rules_.variables()[order_.variables[p]];
  }
  /// Ways out of a state: its values, and being absent where that can be.
  [[nodiscard]] std::size_t columns_of(std::size_t p) const {
    return variable(p).values.size() + (variable(p).when ? 1 : 0);
  }
  [[nodiscard]] ValueIndex value_at(std::size_t p, std::size_t column) const {
    return column < variable(p).values.size() ? static_cast<ValueIndex>(column) : kAbsent;
  }

  void expand(std::size_t p, Place from, std::uint64_t weight, StateLayer& next) {
    const RuleVariable& variable = this->variable(p);
    const std::size_t first = ways_[p].size();
    ways_[p].resize(first + columns_of(p), kCut);
    if (const auto rule = bounds_.broken(p, registers_.data())) {
      count_cut(*rule, weight, p);
      return;
    }
    if (!exists(variable)) {
      // All combinations of its values are one config.
      registers_[variable.reg] = Cell::unknown();
      const std::uint64_t all = saturating_multiply(weight, variable.values.size());
      if (passes(p + 1, all, from)) ways_[p].back() = next.add(registers_.data(), all);
      return;
    }
    for (std::size_t v = 0; v < variable.values.size(); ++v) {
      registers_[variable.reg] = variable.values[v];
      value_ = static_cast<ValueIndex>(v);
      if (passes(p + 1, weight, from)) ways_[p][first + v] = next.add(registers_.data(), weight);
    }
  }

  [[nodiscard]] bool exists(const RuleVariable& variable) const {
    if (!variable.when) return true;
    const Cell when =
        expression::to_condition(registers_[rules_.rules()[*variable.when].operands.front().reg]);
    return when.kind == CellKind::boolean && when.boolean;
  }

  /// Computes and checks what the level completes. The registers of its operands are set.
  bool passes(std::size_t level, std::uint64_t weight, Place from) {
    for (const expression::NetworkStep& step : levels_[level].steps) {
      expression::run(step, registers_.data());
    }
    for (const LevelCheck& check : levels_[level].checks) {
      const RuleSet::Answer answer = check_at(check, rules_, registers_.data());
      if (answer == RuleSet::Answer::holds) continue;
      count_cut(check.rule, weight, level);
      std::string& fault = cuts_[check.rule].first_fault;
      if (answer == RuleSet::Answer::fault && fault.empty()) {
        fault = rules_.fault_text(check.rule, variant_, combination(level, from));
      }
      return false;
    }
    return true;
  }

  void count_cut(std::size_t rule, std::uint64_t weight, std::size_t level) {
    const std::uint64_t combinations = saturating_multiply(weight, below_[level]);
    cuts_[rule].cut = saturating_add(cuts_[rule].cut, combinations);
  }

  /// One combination that came to `from`, with the value that is being tried there.
  [[nodiscard]] std::vector<ValueIndex> combination(std::size_t level, Place from) const {
    std::vector<ValueIndex> row(variant_.tunables.size(), kAbsent);
    for (std::size_t t = 0; t < row.size(); ++t) {
      const Tunable& tunable = variant_.tunables[t];
      if (tunable.values.size() == 1 && !tunable.when) row[t] = 0;
    }
    if (level == 0) return row;
    const bool absent = registers_[variable(level - 1).reg].kind == CellKind::unknown;
    row[variable(level - 1).tunable] = absent ? kAbsent : value_;
    for (std::size_t p = level - 1; p > 0; --p) {
      const std::vector<std::uint32_t>& ways = ways_[p - 1];
      const auto way = static_cast<std::size_t>(
          std::find(ways.begin(), ways.end(), static_cast<std::uint32_t>(from.state)) -
          ways.begin());
      row[variable(p - 1).tunable] = value_at(p - 1, way % columns_of(p - 1));
      from.state = way / columns_of(p - 1);
    }
    return row;
  }

  [[nodiscard]] double log_states_for(const Rule& rule, ValueCounts& counts) const {
    std::vector<bool> needs(registers_.size(), false);
    for (const RuleOperand& operand : rule.operands) needs[operand.reg] = true;
    for (std::size_t reg = needs.size(); reg-- > 0;) {
      if (!needs[reg]) continue;
      for (const Register operand : rules_.network().steps()[reg].operands) needs[operand] = true;
    }
    double states = 0;
    for (const Register reg : levels_[reached_].live) {
      if (needs[reg]) states += std::log2(counts.of(reg));
    }
    return states;
  }

  const RuleSet& rules_;
  const Variant& variant_;
  TunableOrder order_;
  std::vector<Level> levels_;
  Bounds bounds_;
  BuildLimits limits_;
  std::vector<Cell> registers_;
  std::vector<RuleReport> cuts_;
  std::vector<std::uint64_t> below_;  // combinations of the variables from p on
  /// Per level and state: the next state for every column, or kCut.
  std::vector<std::vector<std::uint32_t>> ways_;
  ValueIndex value_ = 0;  // that is being tried
  std::size_t states_ = 0;
  std::size_t work_ = 0;
  std::size_t ends_ = 0;     // states behind the last variable: 1, or 0 when nothing is legal
  std::size_t reached_ = 0;  // level at which forwards() gave up
};

// Estimates err: the orders race with small limits first, so that a bad one costs little. Returns
// nothing when no order did with `max_states`; `widest` is then the rule to set aside.
std::optional<BuiltDiagram> race(const RuleSet& rules, const Variant& variant,
                                 const std::vector<bool>& late, std::size_t max_states,
                                 std::optional<std::size_t>& widest) {
  constexpr std::size_t kFirstWork = 4000;
  constexpr std::size_t kGrowth = 8;
  constexpr std::size_t kWorkPerState = 8;
  const std::vector<TunableOrder> orders = {given_order(rules, late), choose_order(rules, late)};
  const std::size_t enough = saturating_multiply(max_states, kWorkPerState);
  for (std::size_t work = kFirstWork;; work = saturating_multiply(work, kGrowth)) {
    for (const TunableOrder& order : orders) {
      Attempt attempt(rules, variant, late, order, {max_states, work});
      if (attempt.forwards()) return std::move(attempt).backwards(late);
      widest = attempt.widest_rule(late);
    }
    if (work >= enough) return std::nullopt;
  }
}

}  // namespace

BuiltDiagram build_diagram(const RuleSet& rules, const Variant& variant, std::size_t max_states) {
  constexpr std::size_t kHaste = 4;  // exact it will not be: less effort for what follows
  std::vector<bool> late(rules.rules().size(), false);
  while (true) {
    std::optional<std::size_t> widest;
    auto built = race(rules, variant, late, max_states, widest);
    if (built) return *std::move(built);
    if (widest) {
      if (std::find(late.begin(), late.end(), true) == late.end()) max_states /= kHaste;
      late[*widest] = true;
    } else {
      max_states = std::numeric_limits<std::size_t>::max();  // nothing is left to set aside
    }
  }
}

}  // namespace kiln
