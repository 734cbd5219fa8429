// Binds arguments by name to the buffers and scalars of a plan. An error names the mistake.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kiln/arguments.hpp>
#include <kiln/expected.hpp>

#include "backends/backend.hpp"
#include "core/launch_plan.hpp"

namespace kiln {

/// The bytes of a scalar, as a kernel parameter takes them.
struct ScalarBytes {
  std::array<std::byte, 8> bytes{};
  std::size_t size = 0;
};

/// Converts `value` to `dtype`; types smaller than f32 round to nearest.
[[nodiscard]] ScalarBytes encode_scalar(DType dtype, const Value& value);

/// The arguments of a launch, in the order of the plan's buffers and scalars.
struct BoundArguments {
  std::vector<Buffer> buffers;
  std::vector<ScalarBytes> scalars;
  std::vector<char> given;  ///< per buffer, then per scalar: not 0 if it was passed
  /// Per place in the call: the index of the argument that stood there at the last launch. Programs
  /// rarely change the order.
  std::vector<std::size_t> order;
};

/// Checks `arguments` against the plans of one prepared kernel and fills a BoundArguments.
/// Allocates only for the text of an error.
class ArgumentBinder {
 public:
  /// `spec` and `plan` must outlive the binder. `offsets_in_handle`: handles are device addresses,
  /// to which an offset can be added (CUDA, HIP), not cl_mem.
  ArgumentBinder(const KernelSpec& spec, const LaunchPlan& plan, bool offsets_in_handle);

  /// Returns arguments sized for the plan: computed scalars are filled in, nothing else is given.
  [[nodiscard]] BoundArguments empty() const;

  /// Binds by name. `pooled`: the launcher's workspaces in the order of the plan's buffers (handle
  /// 0: none).
  [[nodiscard]] Expected<void> bind(std::span<const LaunchArgument> arguments,
                                    std::span<const Buffer> pooled, BoundArguments& bound) const;

 private:
  [[nodiscard]] std::optional<LaunchError> bind_buffer(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const;
  [[nodiscard]] std::optional<LaunchError> bind_scalar(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const;
  /// Returns the index of the argument `name`, counted over buffers, then scalars. Tries the
  /// argument that stood at `place` last time first.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name, std::size_t place,
                                                BoundArguments& bound) const;
  [[nodiscard]] std::optional<LaunchError> find_missing(const BoundArguments& bound) const;
  [[nodiscard]] LaunchError unknown(std::string_view name) const;
  [[nodiscard]] LaunchError error(const std::string& text) const;
  [[nodiscard]] std::string expected_arguments() const;

  const KernelSpec& spec_;
  const LaunchPlan& plan_;
  std::vector<std::string_view> names_;  ///< per buffer, then per scalar
  bool offsets_in_handle_;
};

}  // namespace kiln
