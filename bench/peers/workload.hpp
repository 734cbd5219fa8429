// Workload: one problem with its inputs on the device, shared by Kiln and its peers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peers/device_data.hpp"
#include "bench/peers/host/matmul_shape.hpp"
#include "bench/peers/host/problem_list.hpp"
#include "core/launch_plan.hpp"

namespace kiln::peers {

struct Workload {
  std::string kernel;
  std::string text;   ///< canonical text of the problem
  std::string title;  ///< for tables: kernel and the fields that are not defaults
  Problem problem;
  ProblemCost cost;
  std::map<std::string, DeviceArray> inputs;  ///< read-only arguments by name, filled
  /// Elements of the inputs that the spec computes.
  std::map<std::string, std::vector<double>> computed;
  std::map<std::string, double> scalars;  ///< values of the arguments that the caller passes
  std::string output;                     ///< the first argument that is written: compared
  DType output_dtype = DType::f32;
  std::int64_t output_count = 0;
  /// Written too, and not compared: the value beside the index of arg_reduce.
  struct Output {
    std::string name;
    DType dtype = DType::f32;
    std::int64_t count = 0;
  };
  std::vector<Output> other_outputs;
  std::optional<MatmulShape> product;  ///< of the kernel `matmul`

  [[nodiscard]] bool is(std::string_view field, std::string_view value) const {
    return problem.text_of(field) == value;
  }
};

/// Throws InputError where the problem has no launch plan.
[[nodiscard]] Workload make_workload(const ParsedProblem& parsed, std::uint64_t seed,
                                     cudaStream_t stream);

/// What outputs hold before each run that is compared: some kernels read it.
[[nodiscard]] FillRange output_range(const Workload& workload);

}  // namespace kiln::peers
