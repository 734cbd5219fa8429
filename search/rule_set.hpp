// RuleSet: the rules of one variant, bound to a problem and a device, for depth-first search.
//
// Every name is resolved once, to the address of its value. Tunables are assigned in their order;
// after each one, only the rules that it completes are evaluated, so a broken rule cuts all that
// would follow. Launch limits of the device (block, grid, dynamic shared memory) are rules like the
// spec's constraints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "search/space_report.hpp"
#include "search/variant_space.hpp"

namespace kiln {

class RuleSet {
 public:
  /// `spec` and `variant` must outlive the rules.
  RuleSet(const KernelSpec& spec, const Variant& variant, const Problem& problem,
          const DeviceInfo& device);
  RuleSet(const RuleSet&) = delete;
  RuleSet& operator=(const RuleSet&) = delete;

  /// Does tunable `t` exist, given the values of the earlier ones? nullopt: its `when` has no
  /// answer (broken() then names the rule).
  [[nodiscard]] std::optional<bool> exists(std::size_t t);

  /// Gives tunable `t` a value; kAbsent: it does not exist.
  void assign(std::size_t t, ValueIndex value);

  /// Do the rules hold that need nothing behind the first `assigned` tunables, and were not checked
  /// with fewer? When not, broken() names the first that does not.
  [[nodiscard]] bool hold(std::size_t assigned);

  [[nodiscard]] std::size_t broken() const { return broken_; }

  /// All rules, with nothing cut yet; broken() is an index into them.
  [[nodiscard]] const std::vector<RuleReport>& rules() const { return rules_; }

 private:
  /// An expression whose slots follow the current values.
  struct Bound {
    Expression expression;
    std::vector<const Value*> slots;
    std::size_t level = 0;  // number of tunables that must be assigned before it has its answer
    [[nodiscard]] std::optional<Value> evaluate() const { return expression.evaluate(slots); }
  };

  /// Limits of one launch dimension triple (or of dynamic shared memory).
  struct Limits {
    std::int64_t low = 1;
    std::array<std::int64_t, 3> high = {};
    std::int64_t product = 0;  // of all extents; 0: not limited
  };

  /// One thing to do at a level: compute a derived value, or check a rule.
  struct Check {
    std::size_t rule = 0;
    std::optional<std::size_t> derived;  // computes this derived value
    const Bound* when = nullptr;         // launch limits: of the step; applies where true
    std::vector<const Bound*> operands;  // one truth value, or up to three extents
    std::optional<Limits> limits;        // absent: operands[0] is a constraint
  };

  const Bound* bind(const Expression& expression);
  std::size_t add_rule(std::string rule, std::string because);
  void add_check(Check check);
  void add_derived(const Variant& variant);
  void add_constraints(const Variant& variant);
  void add_launch_limits(const Step& step, const DeviceInfo& device);
  void add_extents(const Step& step, const std::vector<Expression>& extents, std::string_view what,
                   const Limits& limits);
  void set_value(std::size_t source, const Value* value);
  [[nodiscard]] bool passes(const Check& check);

  const Variant& variant_;
  Scope constants_;          // names that no tunable changes
  std::deque<Bound> bound_;  // stable addresses
  /// Tunables first, then derived values: where their current value is used.
  std::vector<std::vector<std::pair<Bound*, std::size_t>>> uses_;
  std::map<std::string, std::size_t, std::less<>> sources_;  // name -> index into uses_
  std::vector<std::size_t> source_levels_;
  std::vector<const Bound*> when_;       // per tunable; nullptr: always there
  std::vector<std::size_t> when_rules_;  // per tunable, for faults
  std::vector<const Bound*> derived_;
  std::deque<Value> derived_values_;
  std::vector<std::vector<Check>> checks_;  // per level
  std::vector<RuleReport> rules_;
  std::size_t broken_ = 0;
};

}  // namespace kiln
