// References that a spec brings along: a C function or recorded arrays of its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace kiln {

/// A function in C, C++ or Python that computes the outputs from the inputs on the host. It runs in
/// a worker or a process of it, with the rights of the user.
struct OutsideFunction {
  std::string file;  ///< below the spec's folder
  std::string name;
  /// What is passed, in order: an argument of the kernel, or a value over the problem.
  struct Operand {
    std::string argument;             ///< empty: `value`
    std::optional<Expression> value;  ///< a number or a boolean
  };
  std::vector<Operand> operands;
  bool by_name = false;  ///< a Python function takes what its parameters name
  SourceLocation where;
};

/// Whether a file is one of Python.
[[nodiscard]] inline bool is_python(const std::string& file) { return file.ends_with(".py"); }

/// The inputs and outputs of one problem, as .npy files.
struct RecordedArrays {
  struct File {
    std::string argument;
    std::string path;  ///< below the spec's folder
    SourceLocation where;
  };
  std::string problem;  ///< text for Problem::parse
  std::vector<File> inputs;
  std::vector<File> outputs;
  SourceLocation where;
  SourceLocation problem_where;
};

struct OutsideReference {
  std::optional<OutsideFunction> function;
  std::vector<RecordedArrays> recorded;
};

class Problem;
struct KernelSpec;

/// The arrays that were recorded for this problem; nullptr: none.
[[nodiscard]] const RecordedArrays* find_recorded(const KernelSpec& spec, const Problem& problem);

/// Returns whether the only reference for this problem is a variant of the spec itself.
[[nodiscard]] bool is_proved_by_itself(const KernelSpec& spec, const Problem& problem);

}  // namespace kiln
