// The table of functions and operator spellings of the expression language.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/expression/tree.hpp"

namespace kiln::expression {

/// Where a function may be called.
enum class Availability { everywhere, expressions_only, formulas_only };

struct Function {
  std::string_view name;
  Operation operation;
  int arguments;  ///< exactly so many; kAtLeastTwo: two or more
  Availability availability;
};

constexpr int kAtLeastTwo = -2;

/// nullptr when the language has no such function, in neither dialect.
[[nodiscard]] const Function* find_function(std::string_view name);

[[nodiscard]] bool is_available(const Function& function, bool formula);

/// "min", "max", "abs" ...: for messages.
[[nodiscard]] std::vector<std::string> function_names(bool formula);

}  // namespace kiln::expression
