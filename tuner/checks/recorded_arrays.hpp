// The arrays that a spec recorded for a problem ([[verify.expected]]), read from its .npy files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/launch_plan.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"
#include "templates/reference.hpp"

namespace kiln {

struct RecordedValues {
  std::map<std::string, HostArray> inputs;   ///< in the element types of the arguments
  std::map<std::string, HostArray> outputs;  ///< as a reference gives them: f64 or i64
  std::string source;                        ///< "y.npy, z.npy"
};

/// Returns nullopt if nothing was recorded for the problem. `plan`: of any config. Throws
/// InputError with the place in the spec if a file cannot be read, if its type or shape is not that
/// of its argument, or if an input or output has no file.
[[nodiscard]] std::optional<RecordedValues> read_recorded(const KernelSpec& spec,
                                                          const Problem& problem,
                                                          const LaunchPlan& plan);

/// A hash of the content of those files; empty if nothing was recorded for the problem. Throws
/// InputError for a file that cannot be read.
[[nodiscard]] std::string recorded_hash(const KernelSpec& spec, const Problem& problem);

}  // namespace kiln
