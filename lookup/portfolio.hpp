// Portfolio: the fewest configs that are good enough for every tuned problem of a kernel on a
// device, for programs that can carry only a few kernels, and for judging a lookup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/close_configs.hpp"

namespace kiln {

/// The known configs of one problem.
struct TunedProblem {
  std::string problem;               ///< for people
  std::vector<CloseConfig> configs;  ///< one of them has slowdown 1
};

struct PortfolioMember {
  std::string config;
  std::vector<std::size_t> problems;  ///< indices of the problems that it covers, ascending
  double worst = 1;                   ///< largest slowdown over them
};

struct Portfolio {
  std::vector<PortfolioMember> members;
  /// Proved lower bound on the number of members. If it equals their number, no smaller portfolio
  /// exists.
  std::size_t at_least = 0;
};

/// The fewest configs such that each problem has one whose slowdown is at most 1 + `within` (0.05:
/// 5% slower than its best); a config covers only problems on which it was tried. Greedy set cover,
/// then proved or improved by an exact search of bounded work (a second; `at_least` is what it
/// proved). Members are sorted by how many problems they cover. Each problem is listed under its
/// fastest member. Deterministic.
[[nodiscard]] Portfolio find_portfolio(std::span<const TunedProblem> problems, double within);

/// Returns the slowdowns of all `ok` trials, the fastest first.
[[nodiscard]] std::vector<CloseConfig> slowdowns(const std::vector<TrialRecord>& trials);

}  // namespace kiln
