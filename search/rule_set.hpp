// RuleSet: the rules of one variant as one network of operations over its tunables.
//
// Everything that does not change within a space (problem, device, tunables with one value) is a
// constant of the network; what depends on tunables is computed by whoever assigns them
// (diagram_builder.hpp), and check() reads the answer. Launch limits of the device (block, grid,
// dynamic shared memory) are rules like the spec's constraints. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/expression/network.hpp"
#include "core/launch_limits.hpp"
#include "search/space_report.hpp"

namespace kiln {

/// Index of a value in its tunable's list; kAbsent: the tunable does not exist in this config.
using ValueIndex = std::uint16_t;
inline constexpr ValueIndex kAbsent = 0xFFFF;

/// One expression of a rule, and what its value must be.
struct RuleOperand {
  enum class Needs { anything, truth, whole_number };
  Expression expression;
  expression::Register reg = 0;
  Needs needs = Needs::anything;
};

struct Rule {
  enum class Kind {
    when,         ///< operand 0 decides whether a tunable exists; only a fault cuts
    derived,      ///< operand 0 must have a value; only a fault cuts
    require,      ///< operand 0 must be true
    limits,       ///< the operands are extents within `limits`
    limits_when,  ///< the same where operand 0 is true
  };
  Kind kind = Kind::require;
  std::vector<RuleOperand> operands;
  std::optional<LaunchLimits> limits;
  /// Parts of an `and`, where no name can lack a value: false in one of them refuses a combination
  /// before the others are known.
  std::vector<expression::Register> parts;
};

/// A tunable that has more than one value, or may be absent.
struct RuleVariable {
  std::size_t tunable = 0;  ///< index in the variant
  expression::Register reg = 0;
  std::vector<expression::Cell> values;
  std::optional<std::size_t> when;  ///< its rule of that kind
};

class RuleSet {
 public:
  /// `constants`: names that no tunable changes. device: nullptr for a variant that nobody launches
  /// (its steps are not looked at). Keeps no reference to either.
  RuleSet(const Variant& variant, Scope constants, const DeviceInfo* device);

  enum class Answer { holds, broken, fault };
  /// Reads the registers of the rule's operands.
  [[nodiscard]] static Answer check(const Rule& rule, const expression::Cell* registers);

  /// In the order of the variant.
  [[nodiscard]] const std::vector<RuleVariable>& variables() const { return variables_; }
  /// The `when` of tunables first, then derived values, constraints and launch limits, each in the
  /// order of the spec.
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }
  [[nodiscard]] const expression::Network& network() const { return network_; }
  /// One per rule, with nothing cut yet.
  [[nodiscard]] const std::vector<RuleReport>& reports() const { return reports_; }

  /// Why the rule has no answer for this combination of `variant` (value indices per tunable, not
  /// all of which need be known: kAbsent).
  [[nodiscard]] std::string fault_text(std::size_t rule, const Variant& variant,
                                       std::span<const ValueIndex> row) const;

 private:
  void add_tunables(const Variant& variant);
  void add_launch_limits(const Step& step, const DeviceInfo& device);
  void add_extents(const Step& step, const std::vector<Expression>& extents, std::string_view what,
                   const LaunchLimits& limits);
  std::size_t add_rule(Rule rule, std::string text, std::string because);
  [[nodiscard]] RuleOperand operand(const Expression& expression, RuleOperand::Needs needs);
  [[nodiscard]] std::vector<expression::Register> parts_of(expression::Register root) const;
  [[nodiscard]] std::vector<bool> may_be_unknown(expression::Register root) const;

  Scope constants_;
  expression::Network network_;
  std::map<std::string, expression::Register, std::less<>> names_;
  std::vector<RuleVariable> variables_;
  std::vector<Rule> rules_;
  std::vector<RuleReport> reports_;
};

}  // namespace kiln
