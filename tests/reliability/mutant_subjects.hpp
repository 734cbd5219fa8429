// Which kernels are mutated, on which problems, and how many of the mutants run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln {

struct Subject {
  std::string kernel;
  std::vector<std::string> problems;  ///< that are tuned: sizes without tails, where faults hide
  std::vector<std::string> judges;    ///< sizes that the verdict "equivalent" rests on
};

/// The lists of mutants; a backend may have problems of its own.
[[nodiscard]] std::vector<Subject> subjects(const std::string& backend);

/// What the environment asks for.
struct MutantOptions {
  std::string backend = "opencl";  ///< KILN_MUTANTS_BACKEND: "cuda" for a real GPU
  std::size_t count = 0;   ///< KILN_MUTANTS: of each list; usually 48, on a GPU 0; KILN_SOAK=1: all
  std::size_t shares = 1;  ///< KILN_MUTANTS_SHARES: tests that a list is cut into
  unsigned seed = 20260101;  ///< KILN_MUTANTS_SEED: of the draw from all known mutants
};
/// Throws UsageError for a variable that makes no sense.
[[nodiscard]] MutantOptions mutant_options();

}  // namespace kiln
