// SpaceReport: how large a space is, and which constraint made it so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// What one rule cut. A combination is counted under the first rule that refuses it, in the order
/// in which the space assigns the tunables (VariantReport::order).
struct RuleReport {
  /// Where the rule comes from: what the spec writes, or a limit of the device.
  enum class Kind { when, derived, constraint, launch_limit };

  std::string rule;  ///< the expression, or the launch limit in words
  std::string because;
  Kind kind = Kind::constraint;
  std::uint64_t cut = 0;    ///< combinations of all tunables' values; saturates
  std::string first_fault;  ///< message of the first combination for which the rule had no answer
  bool late = false;        ///< checked config by config: what it cuts is not counted
};

/// "when condition", "derived value", "constraint" or "launch limit".
[[nodiscard]] std::string_view name_of(RuleReport::Kind kind);

struct VariantReport {
  std::string variant;
  std::string impossible;          ///< why its requirement does not hold here; empty: it does
  std::uint64_t combinations = 0;  ///< product of the numbers of values; saturates
  std::size_t configs = 0;         ///< legal ones; where !exact an estimate from samples
  bool exact = true;               ///< no rule is late
  std::vector<RuleReport> rules;   ///< `when`s, derived values, constraints, launch limits
  /// Tunables as indices order them; those with one value left out.
  std::vector<std::string> order;
  std::vector<std::size_t> parts;  ///< lengths of the runs of `order` that no rule connects
  std::size_t states = 0;          ///< partial combinations that had to be told apart
  std::size_t bytes = 0;           ///< memory that the configs take
};

struct SpaceReport {
  std::vector<VariantReport> variants;

  [[nodiscard]] std::size_t configs() const;
  [[nodiscard]] std::uint64_t combinations() const;  ///< of all variants that are possible
  [[nodiscard]] std::size_t bytes() const;
};

/// Why a space has no config: per variant the requirement that fails, or the rule that cut most.
[[nodiscard]] std::string explain_empty(const SpaceReport& report);

}  // namespace kiln
