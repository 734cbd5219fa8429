// LaunchPlan: what has to happen on a device to run one config: buffers, scalars, workspaces,
// steps, with every expression of the spec evaluated. Made by one function; used by the tuner and
// the launcher.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace kiln {

struct BufferPlan {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  ///< elements per dimension, outermost first
  std::int64_t count = 0;           ///< elements
  Access access = Access::read;
  bool workspace = false;
  bool zeroed = false;  ///< workspaces: all zero before the first run, and left so by every run

  [[nodiscard]] std::int64_t bytes() const {
    return count * static_cast<std::int64_t>(size_of(dtype));
  }
};

struct ScalarPlan {
  std::string name;
  DType dtype = DType::i64;
  Value value;               ///< computed, or the example while tuning
  bool from_caller = false;  ///< the launcher must be given it
};

struct StepPlan {
  StepKind kind = StepKind::launch;
  std::string entry;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<std::string> arguments;
  std::vector<std::string> constants;
  std::string buffer;  ///< clear
};

struct LaunchPlan {
  std::vector<BufferPlan> buffers;  ///< arguments that exist for this problem, then workspaces
  std::vector<ScalarPlan> scalars;
  std::vector<StepPlan> steps;  ///< only those whose `when` holds

  [[nodiscard]] const BufferPlan* find_buffer(std::string_view name) const;
  [[nodiscard]] const ScalarPlan* find_scalar(std::string_view name) const;
};

/// Checks the config (check_config) and the launch limits of the device (threads per block, grid,
/// shared memory), then evaluates. A Failure is always {constraint, reason}.
[[nodiscard]] Result<LaunchPlan> make_launch_plan(const KernelSpec& spec, const Config& config,
                                                  const Problem& problem, const DeviceInfo& device);

/// Bytes and operations that the problem asks for, from [cost]; 0 where the spec does not say.
struct ProblemCost {
  double bytes = 0;
  double flops = 0;
};
[[nodiscard]] ProblemCost problem_cost(const KernelSpec& spec, const Problem& problem,
                                       const DeviceInfo& device);

}  // namespace kiln
