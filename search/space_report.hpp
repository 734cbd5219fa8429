// SpaceReport: how large a space is, and which constraint made it so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// What one rule cut. A combination is counted under the first rule that refuses it.
struct RuleReport {
  std::string rule;  ///< the expression, or the launch limit in words
  std::string because;
  std::uint64_t cut = 0;    ///< combinations of all tunables' values; saturates
  std::string first_fault;  ///< message of the first combination for which the rule had no answer
};

struct VariantReport {
  std::string variant;
  std::string impossible;          ///< why its requirement does not hold here; empty: it does
  std::uint64_t combinations = 0;  ///< product of the numbers of values; saturates
  std::size_t configs = 0;         ///< legal ones
  std::vector<RuleReport> rules;   ///< constraints in the order of the spec, then launch limits
};

struct SpaceReport {
  std::vector<VariantReport> variants;

  [[nodiscard]] std::size_t configs() const;
};

/// Why a space has no config: per variant the requirement that fails, or the rule that cut most.
[[nodiscard]] std::string explain_empty(const SpaceReport& report);

}  // namespace kiln
