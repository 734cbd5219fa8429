// The problems of a run: from the command line and from lists, numbered, and which of them run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/peers/host/options.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln::peers {

struct ListedProblem {
  int number = 0;     ///< from 1
  std::string line;   ///< "reduce n=2^20"
  std::string where;  ///< "problems.txt:7"; empty: from the command line
};

/// The problems of `--problem`, then those of each list in its order, then only those that `--only`
/// names. Throws InputError: a list that cannot be read, no problems, a selection that is malformed
/// or names a number that is not there.
[[nodiscard]] std::vector<ListedProblem> listed_problems(const Options& options);

struct ParsedProblem {
  KernelSpec spec;
  Problem problem;

  /// Kernel and the fields that are not defaults.
  [[nodiscard]] std::string title() const { return spec.name + " " + problem.short_text(spec); }
};

/// Reads the line. Throws InputError, which begins with the line's place in its list.
[[nodiscard]] ParsedProblem parse_problem(const ListedProblem& listed);

struct NumberedProblems {
  std::string text;  ///< one line a problem; a problem that cannot be read has its error instead
  int errors = 0;
};
[[nodiscard]] NumberedProblems numbered(const std::vector<ListedProblem>& problems);

}  // namespace kiln::peers
