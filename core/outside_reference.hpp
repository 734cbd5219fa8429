// References that a spec brings along: a C function of its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace kiln {

/// A function in C or C++ that computes the outputs from the inputs on the host. It runs in a
/// worker, with the rights of the user.
struct OutsideFunction {
  std::string file;  ///< below the spec's folder
  std::string name;
  /// What is passed, in order: an argument of the kernel, or a value over the problem.
  struct Operand {
    std::string argument;             ///< empty: `value`
    std::optional<Expression> value;  ///< a number or a boolean
  };
  std::vector<Operand> operands;
  SourceLocation where;
};

struct OutsideReference {
  std::optional<OutsideFunction> function;
};

}  // namespace kiln
