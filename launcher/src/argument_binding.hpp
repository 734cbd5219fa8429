// From arguments by name to what the steps of a plan take, with every mistake named.
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

/// A scalar as a kernel parameter takes it.
struct ScalarBytes {
  std::array<std::byte, 8> bytes{};
  std::size_t size = 0;
};

/// `value` in the representation of `dtype`; types below f32 are rounded to nearest.
[[nodiscard]] ScalarBytes encode_scalar(DType dtype, const Value& value);

/// What a launch was given, in the order of the plan's buffers and scalars.
struct BoundArguments {
  std::vector<Buffer> buffers;
  std::vector<ScalarBytes> scalars;
  std::vector<char> given;  ///< not 0: by buffer, then by scalar
  /// Which of them the argument at each place was last time (programs rarely change the order).
  std::vector<std::size_t> order;
};

/// Checks `arguments` against the plans of one prepared kernel and fills a BoundArguments.
/// Allocates only for the text of an error.
class ArgumentBinder {
 public:
  /// `spec` and `plan` must outlive the binder. `offsets_in_handle`: device addresses, to which an
  /// offset can be added (CUDA, HIP), as opposed to cl_mem.
  ArgumentBinder(const KernelSpec& spec, const LaunchPlan& plan, bool offsets_in_handle);

  /// Sized for the plan, with computed scalars filled in and nothing given.
  [[nodiscard]] BoundArguments empty() const;

  /// Binds by name. `pooled` are the launcher's workspaces in the order of the plan's buffers
  /// (handle 0: none).
  [[nodiscard]] Expected<void> bind(std::span<const LaunchArgument> arguments,
                                    std::span<const Buffer> pooled, BoundArguments& bound) const;

 private:
  [[nodiscard]] std::optional<LaunchError> bind_buffer(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const;
  [[nodiscard]] std::optional<LaunchError> bind_scalar(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const;
  /// Which argument is called `name`, counted over buffers, then scalars; the one that was at
  /// `place` last time is tried first.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name, std::size_t place,
                                                BoundArguments& bound) const;
  [[nodiscard]] std::optional<LaunchError> find_missing(const BoundArguments& bound) const;
  [[nodiscard]] LaunchError unknown(std::string_view name) const;
  [[nodiscard]] LaunchError error(const std::string& text) const;
  [[nodiscard]] std::string expected_arguments() const;

  const KernelSpec& spec_;
  const LaunchPlan& plan_;
  std::vector<std::string_view> names_;  ///< by buffer, then by scalar
  bool offsets_in_handle_;
};

}  // namespace kiln
