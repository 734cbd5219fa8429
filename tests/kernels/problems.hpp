// The problems on which the built-in kernels are compiled and run: every element type and every
// choice of words in the spec, over sizes picked to be awkward.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/problem.hpp"

namespace kiln::test {

/// The built-in kernels, by name.
[[nodiscard]] const std::vector<std::string>& kernel_names();

/// One problem a rendered source, for compiling: all values of each specialised field that has a
/// list of them, and some of the others.
[[nodiscard]] std::vector<Problem> problems_to_compile(const KernelSpec& spec);

/// For running default configs: every element type, many sizes and shapes.
[[nodiscard]] std::vector<Problem> problems_to_run(const KernelSpec& spec);

/// For running random configs: few sizes, all combinations of choices.
[[nodiscard]] std::vector<Problem> problems_to_explore(const KernelSpec& spec);

}  // namespace kiln::test
