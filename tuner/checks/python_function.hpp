// The Python function that a spec brings along as its reference, run by python3 in a process of its
// own, which ends with this one.
//
// Used in worker processes only, like the C function: the worker's deadline is the function's, too.
// The process stays for the next call, so that NumPy is loaded once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/outside_reference.hpp"
#include "templates/reference.hpp"
#include "tuner/checks/problem_data.hpp"

namespace kiln {

struct PythonOperand {
  std::string name;  ///< empty: an expression
  HostArray array;
  bool is_array = true;  ///< false: its element is a number
};

struct PythonResults {
  std::vector<HostArray> outputs;  ///< in their order, as a reference gives them (f64 or i64)
  double seconds = 0;              ///< of the function alone
};

/// Calls the function with NumPy arrays and Python's numbers: bf16 and 8-bit floats arrive as f32.
/// `text`: of the function's file, which may import others of `folder`. Throws InputError with
/// Python's message, and if python3 or NumPy is missing, or the process ends.
[[nodiscard]] PythonResults call_python_function(const OutsideFunction& function,
                                                 const std::string& text, const std::string& folder,
                                                 const std::vector<PythonOperand>& operands,
                                                 const std::vector<ProblemData::Output>& outputs);

}  // namespace kiln
