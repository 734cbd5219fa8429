// The function that a spec brings along as its reference: in C, compiled by the system's compiler,
// or in Python (python_function.hpp).
//
// Used in worker processes only: a function that crashes or never returns costs the worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/outside_reference.hpp"
#include "templates/reference.hpp"
#include "tuner/checks/problem_data.hpp"

namespace kiln {

/// Calls the function. `arrays` holds the inputs in their own element types; afterwards also the
/// outputs, as a reference gives them (f64 or i64). The function itself sees every array in the
/// element type of its argument. Compiles it on the first call of the process. Returns the seconds
/// that it ran. Throws InputError with the compiler's or Python's message, or where an operand
/// cannot be evaluated.
double call_outside_function(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                             const std::vector<ProblemData::Output>& outputs,
                             std::map<std::string, HostArray>& arrays);

/// The C text that is compiled: the file, and behind it a call with every operand in its type.
[[nodiscard]] std::string outside_source(const KernelSpec& spec, const LaunchPlan& plan,
                                         const std::vector<Value>& values);

}  // namespace kiln
