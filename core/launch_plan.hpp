// LaunchPlan: what has to happen on a device to run one config: buffers, scalars, workspaces,
// steps, with every expression of the spec evaluated. Made by Setting::plan(); used by the tuner
// and the launcher.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "core/spec.hpp"

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

/// Values of scalars that the caller passes, by name.
using ScalarValues = std::map<std::string, Value>;

struct ScalarPlan {
  std::string name;
  DType dtype = DType::i64;
  Value value;               ///< computed, or the example while tuning
  bool from_caller = false;  ///< the launcher must be given it
};

/// A tensor map with every expression evaluated. Lists have the outermost dimension first.
struct TensorMapPlan {
  std::string name;
  std::string buffer;  ///< argument or workspace that it describes
  DType dtype = DType::f32;
  std::int64_t offset_bytes = 0;           ///< from the buffer's first byte
  std::vector<std::int64_t> shape;         ///< elements
  std::vector<std::int64_t> stride_bytes;  ///< one fewer than shape
  std::vector<std::int64_t> box;           ///< elements; of an im2col map: positions, channels
  std::vector<std::int64_t> lower;         ///< im2col: two fewer than shape; empty: a plain map
  std::vector<std::int64_t> upper;         ///< likewise
  std::vector<std::int64_t> element_strides;
  std::int64_t swizzle_bytes = 0;
  std::int64_t promotion_bytes = 0;
  bool fill_nan = false;
  bool to_tf32 = false;  ///< copies round elements of f32 to tf32
};

struct StepPlan {
  StepKind kind = StepKind::launch;
  std::string entry;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<std::pair<std::string, std::uint32_t>> locals;  ///< __local parameters, their bytes
  bool programmatic = false;
  std::vector<std::string> arguments;
  std::vector<std::string> constants;
  std::string buffer;  ///< clear

  /// Bytes of a __local parameter of that name; nullptr: there is none.
  [[nodiscard]] const std::uint32_t* find_local(std::string_view name) const;
};

struct LaunchPlan {
  std::vector<BufferPlan> buffers;  ///< arguments that exist for this problem, then workspaces
  std::vector<ScalarPlan> scalars;
  std::vector<TensorMapPlan> tensor_maps;  ///< only those whose `when` holds
  std::vector<StepPlan> steps;             ///< only those whose `when` holds

  [[nodiscard]] const BufferPlan* find_buffer(std::string_view name) const;
  [[nodiscard]] const ScalarPlan* find_scalar(std::string_view name) const;
  [[nodiscard]] const TensorMapPlan* find_tensor_map(std::string_view name) const;
};

/// Bytes and operations that the problem asks for, from [cost]; 0 where the spec does not say.
struct ProblemCost {
  double bytes = 0;
  double flops = 0;
};

}  // namespace kiln
