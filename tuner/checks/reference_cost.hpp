// ReferenceCost: how long a spec's own reference takes, measured on small problems.
//
// A spec need not say how many operations its C function or its formulas take, and what it says may
// be wrong. So the reference runs on a small problem, on a larger one, and so on, until it takes
// some milliseconds. Where it would take longer than a session can wait, a config stands in for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/checks/problem_bench.hpp"

namespace kiln {

struct ReferenceCost {
  double seconds = 0;           ///< of one run on the whole problem, measured or forecast
  ReferenceLimits limits;       ///< for that problem
  double extra_operations = 0;  ///< for other problems
};

/// `limits` and `extra_operations`: what they are if the reference keeps what it says. They become
/// smaller where it is slower. `most_seconds`: above, a config stands in. A built-in CPU loop says
/// what it costs and is not measured.
[[nodiscard]] Result<ReferenceCost> measure_reference(const ProblemBench::Tools& tools,
                                                      const KernelSpec& spec,
                                                      const Problem& problem, std::uint64_t seed,
                                                      const ReferenceCost& stated,
                                                      double most_seconds);

}  // namespace kiln
