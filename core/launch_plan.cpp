// Setting::plan: every expression of the spec evaluated and held against the device's limits.
// SPDX-License-Identifier: Apache-2.0
#include "core/launch_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/command_spec.hpp"
#include "core/constraint_text.hpp"
#include "core/integer_range.hpp"
#include "core/launch_limits.hpp"
#include "core/launch_plan_rules.hpp"
#include "core/setting.hpp"

namespace kiln {
namespace {

using plan_rules::illegal;
using plan_rules::Illegal;

class PlanBuilder {
 public:
  PlanBuilder(const KernelSpec& spec, const Variant& variant, const DeviceInfo& device, Scope scope,
              const ScalarValues& scalars)
      : spec_(spec),
        variant_(variant),
        device_(device),
        scope_(std::move(scope)),
        scalars_(scalars) {}

  LaunchPlan build_arguments() {
    for (const Argument& argument : spec_.arguments) add_argument(argument);
    return std::move(plan_);
  }

  LaunchPlan build() {
    if (spec_.command) return command_plan();
    for (const Argument& argument : spec_.arguments) add_argument(argument);
    for (const Workspace& workspace : variant_.workspaces) {
      if (!workspace.when || exists(*workspace.when, scope_)) add_workspace(workspace);
    }
    for (const TensorMap& map : variant_.tensor_maps) {
      if (!map.when || exists(*map.when, scope_)) {
        plan_.tensor_maps.push_back(plan_tensor_map(map, plan_, device_, scope_));
      }
    }
    for (const Step& step : variant_.steps) {
      if (!step.when || exists(*step.when, scope_)) add_step(step);
    }
    if (plan_.steps.empty()) illegal("no step of the variant applies to this config");
    return std::move(plan_);
  }

 private:
  /// The text of the run, and behind it that of the check.
  LaunchPlan command_plan() {
    for (const std::optional<TextPattern>& line :
         {std::optional<TextPattern>(spec_.command->run), spec_.command->check}) {
      if (!line) continue;
      StepPlan step;
      step.entry = shell_text(spec_, *line, scope_);
      plan_.steps.push_back(std::move(step));
    }
    return std::move(plan_);
  }

  [[nodiscard]] DType dtype(const Expression& expression, const std::string& name) const {
    return plan_rules::element_type(expression, name, scope_);
  }

  void add_argument(const Argument& argument) {
    if (argument.when && !exists(*argument.when, scope_)) return;
    if (argument.access == Access::scalar) {
      add_scalar(argument);
      return;
    }
    BufferPlan buffer;
    buffer.name = argument.name;
    buffer.dtype = dtype(argument.dtype, argument.name);
    buffer.access = argument.access;
    buffer.count = 1;
    for (const Expression& extent : argument.shape) {
      const std::int64_t elements = extent.evaluate_int(scope_);
      check_extent(argument.name, extent, elements);
      buffer.shape.push_back(elements);
      if (__builtin_mul_overflow(buffer.count, elements, &buffer.count)) too_large(argument.name);
    }
    add_buffer(std::move(buffer));
  }

  void add_workspace(const Workspace& workspace) {
    BufferPlan buffer;
    buffer.name = workspace.name;
    buffer.dtype = dtype(workspace.dtype, workspace.name);
    buffer.access = Access::read_write;
    buffer.workspace = true;
    buffer.zeroed = workspace.zeroed;
    buffer.count = workspace.count.evaluate_int(scope_);
    check_extent(workspace.name, workspace.count, buffer.count);
    buffer.shape = {buffer.count};
    add_buffer(std::move(buffer));
  }

  static void check_extent(const std::string& name, const Expression& extent,
                           std::int64_t elements) {
    if (elements >= 0) return;
    illegal(fmt::format("'{}' would hold a negative number of elements ({} = {})", name,
                        extent.text(), elements));
  }

  [[noreturn]] static void too_large(const std::string& name) {
    illegal(fmt::format("'{}' is too large: its size in bytes exceeds 2^63", name));
  }

  void add_buffer(BufferPlan buffer) {
    std::int64_t bytes = 0;
    const auto size = static_cast<std::int64_t>(size_of(buffer.dtype));
    if (__builtin_mul_overflow(buffer.count, size, &bytes)) too_large(buffer.name);
    plan_.buffers.push_back(std::move(buffer));
  }

  void add_scalar(const Argument& argument) {
    ScalarPlan scalar;
    scalar.name = argument.name;
    scalar.dtype = dtype(argument.dtype, argument.name);
    scalar.from_caller = !argument.value.has_value();
    const Expression& source = argument.value ? *argument.value : *argument.example;
    const auto given = scalars_.find(argument.name);
    if (scalar.from_caller && given != scalars_.end()) {
      scalar.value = given->second;
    } else {
      const Scope scope = follows_scalars(spec_, argument) ? scope_with_scalars() : Scope();
      const Scope& used = scope.values().empty() ? scope_ : scope;
      scalar.value = is_floating(scalar.dtype) ? Value(source.evaluate_number(used))
                                               : Value(source.evaluate_int(used));
    }
    check_scalar_range(scalar);
    plan_.scalars.push_back(std::move(scalar));
  }

  /// In addition the caller's scalars so far; a problem field of the same name keeps its value.
  [[nodiscard]] Scope scope_with_scalars() const {
    Scope scope = scope_;
    for (const ScalarPlan& scalar : plan_.scalars) {
      if (scalar.from_caller && scope.find(scalar.name) == nullptr)
        scope.set(scalar.name, scalar.value);
    }
    return scope;
  }

  static void check_scalar_range(const ScalarPlan& scalar) {
    const auto* value = std::get_if<std::int64_t>(&scalar.value);
    if (value == nullptr) return;
    const IntegerRange range = integer_range(scalar.dtype);
    if (*value < range.low || *value > range.high) {
      illegal(fmt::format("scalar '{}' = {} does not fit in {}", scalar.name, *value,
                          name_of(scalar.dtype)));
    }
  }

  void add_step(const Step& step) {
    StepPlan out;
    out.kind = step.kind;
    if (step.kind == StepKind::clear) {
      if (plan_.find_buffer(step.buffer) == nullptr) return;  // nothing to clear for this problem
      out.buffer = step.buffer;
      plan_.steps.push_back(std::move(out));
      return;
    }
    out.entry = entry_of(step, scope_);
    out.grid = extents(step.grid, "grid", step, grid_limits(device_).high);
    out.block = extents(step.block, "block", step, block_limits(device_).high);
    check_block(out);
    check_threads(out);
    if (!step.cluster.empty()) set_cluster(step, out);
    set_shared_bytes(step, out);
    // Elsewhere the launch waits for the step before it, which is right, too.
    out.programmatic =
        step.programmatic && has_tensor_maps(device_) && exists(*step.programmatic, scope_);
    for (const std::string& name : step.arguments) add_value(name);
    out.arguments = present(step.arguments, out);
    out.constants = present(step.constants, out);
    plan_.steps.push_back(std::move(out));
  }

  /// A tunable or derived value that a step passes on: an i32, or an f32.
  void add_value(const std::string& name) {
    const bool is_other = spec_.find_argument(name) != nullptr || plan_.find_scalar(name) ||
                          plan_.find_buffer(name) || plan_.find_tensor_map(name);
    const Value* value = is_other ? nullptr : scope_.find(name);
    if (value == nullptr) return;
    ScalarPlan scalar;
    scalar.name = name;
    if (const auto* real = std::get_if<double>(value)) {
      scalar.dtype = DType::f32;
      scalar.value = *real;
    } else if (std::holds_alternative<std::string>(*value)) {
      illegal(fmt::format("'{}' is a text, which no kernel takes as an argument", name));
    } else {
      scalar.dtype = DType::i32;
      scalar.value = static_cast<std::int64_t>(as_double(*value));
    }
    check_scalar_range(scalar);
    plan_.scalars.push_back(std::move(scalar));
  }

  [[nodiscard]] std::array<std::uint32_t, 3> extents(const std::vector<Expression>& expressions,
                                                     std::string_view what, const Step& step,
                                                     std::array<std::int64_t, 3> limits) const {
    std::array<std::uint32_t, 3> out = {1, 1, 1};
    for (std::size_t d = 0; d < expressions.size(); ++d) {
      const std::int64_t extent = expressions[d].evaluate_int(scope_);
      const std::int64_t limit =
          std::min<std::int64_t>(limits[d], std::numeric_limits<std::uint32_t>::max());
      if (extent < 1 || extent > limit) {
        illegal(
            fmt::format("step '{}': {} dimension {} must be from 1 to {} on this device ({} = {})",
                        step.entry.text(), what, "xyz"[d], limit, expressions[d].text(), extent));
      }
      out[d] = static_cast<std::uint32_t>(extent);
    }
    return out;
  }

  void check_block(const StepPlan& step) const {
    const std::int64_t limit = block_limits(device_).product;
    std::int64_t threads = 1;
    for (const std::uint32_t extent : step.block) {
      // Each factor is at most 2^32 and the product is checked as it grows: no overflow.
      threads *= extent;
      if (threads <= limit) continue;
      illegal(
          fmt::format("step '{}': a block of {} x {} x {} threads exceeds the device's limit of {}",
                      step.entry, step.block[0], step.block[1], step.block[2], limit));
    }
  }

  void check_threads(const StepPlan& step) const {
    for (std::size_t d = 0; d < 3; ++d) {
      const auto limit = static_cast<std::uint64_t>(thread_limits(device_, d).product);
      const std::uint64_t threads = std::uint64_t{step.grid[d]} * step.block[d];
      if (threads <= limit) continue;
      illegal(
          fmt::format("step '{}': {} blocks of {} threads in dimension {} are {} threads, and this "
                      "device takes at most {}",
                      step.entry, step.grid[d], step.block[d], "xyz"[d], threads, limit));
    }
  }

  void set_cluster(const Step& step, StepPlan& out) const {
    constexpr std::int64_t kMaxClusterBlocks = 16;  // 8 portable, 16 with the opt-in of Hopper
    out.cluster = extents(step.cluster, "cluster", step,
                          {kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks});
    const std::int64_t blocks = std::int64_t{out.cluster[0]} * out.cluster[1] * out.cluster[2];
    if (blocks == 1) return;
    if (device_.backend != "cuda" || device_.compute_capability < 90) {
      illegal(fmt::format("step '{}': clusters need CUDA with compute capability 9.0", out.entry));
    }
    if (blocks > kMaxClusterBlocks) {
      illegal(fmt::format("step '{}': a cluster of {} blocks exceeds the limit of {}", out.entry,
                          blocks, kMaxClusterBlocks));
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (out.grid[d] % out.cluster[d] == 0) continue;
      illegal(fmt::format("step '{}': grid dimension {} ({}) is no multiple of the cluster's ({})",
                          out.entry, "xyz"[d], out.grid[d], out.cluster[d]));
    }
  }

  void set_shared_bytes(const Step& step, StepPlan& out) const {
    const LaunchLimits limits = shared_limits(device_);
    std::int64_t left = limits.high[0];
    const auto bytes_of = [&](const Expression& expression) {
      const std::int64_t bytes = expression.evaluate_int(scope_);
      if (bytes < limits.low || bytes > left) {
        illegal(
            fmt::format("step '{}': {} bytes of dynamic shared memory are not from 0 to the "
                        "device's limit of {}",
                        out.entry, bytes, left));
      }
      left -= bytes;
      return static_cast<std::uint32_t>(bytes);
    };
    if (step.shared_bytes) out.shared_bytes = bytes_of(*step.shared_bytes);
    if (!step.local.empty() && device_.backend != "opencl") {
      illegal(fmt::format("step '{}': 'local' is for __local parameters, which only OpenCL has",
                          out.entry));
    }
    for (const Derived& local : step.local)
      out.locals.emplace_back(local.name, bytes_of(local.value));
  }

  // Arguments that do not exist for this problem are no parameters of the kernel either.
  [[nodiscard]] std::vector<std::string> present(const std::vector<std::string>& names,
                                                 const StepPlan& step) const {
    std::vector<std::string> out;
    for (const std::string& name : names) {
      if (plan_.find_buffer(name) || plan_.find_scalar(name) || plan_.find_tensor_map(name) ||
          step.find_local(name)) {
        out.push_back(name);
      }
    }
    return out;
  }

  const KernelSpec& spec_;
  const Variant& variant_;
  const DeviceInfo& device_;
  Scope scope_;
  const ScalarValues& scalars_;
  LaunchPlan plan_;
};

}  // namespace

const std::uint32_t* StepPlan::find_local(std::string_view name) const {
  const auto found = std::find_if(locals.begin(), locals.end(),
                                  [&](const auto& local) { return local.first == name; });
  return found == locals.end() ? nullptr : &found->second;
}

const BufferPlan* LaunchPlan::find_buffer(std::string_view name) const {
  for (const BufferPlan& buffer : buffers) {
    if (buffer.name == name) return &buffer;
  }
  return nullptr;
}

const ScalarPlan* LaunchPlan::find_scalar(std::string_view name) const {
  for (const ScalarPlan& scalar : scalars) {
    if (scalar.name == name) return &scalar;
  }
  return nullptr;
}

const TensorMapPlan* LaunchPlan::find_tensor_map(std::string_view name) const {
  for (const TensorMapPlan& map : tensor_maps) {
    if (map.name == name) return &map;
  }
  return nullptr;
}

Result<LaunchPlan> Setting::plan(const Config& config, const ScalarValues& scalars) const {
  try {
    Scope scope;
    if (auto failure = broken_rule(config, scope)) return *failure;
    const Variant& variant = *spec_->find_variant(config.variant);
    return PlanBuilder(*spec_, variant, device(), std::move(scope), scalars).build();
  } catch (const Illegal& reason) {
    return Failure{Outcome::constraint, reason.message};
  } catch (const EvaluationError& error) {
    return Failure{Outcome::constraint, error.what()};
  }
}

Result<LaunchPlan> Setting::arguments(const ScalarValues& scalars) const {
  try {
    return PlanBuilder(*spec_, spec_->variants.front(), device(), scope(), scalars)
        .build_arguments();
  } catch (const Illegal& reason) {
    return Failure{Outcome::constraint, reason.message};
  } catch (const EvaluationError& error) {
    return Failure{Outcome::constraint, error.what()};
  }
}

ProblemCost Setting::cost() const {
  ProblemCost cost;
  if (spec_->cost.bytes) cost.bytes = spec_->cost.bytes->evaluate_number(scope());
  if (spec_->cost.flops) cost.flops = spec_->cost.flops->evaluate_number(scope());
  return cost;
}

}  // namespace kiln
