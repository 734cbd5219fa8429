// Resolves the names of a launch plan, encodes its tensor maps, and enqueues its steps.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/launch_sequence.hpp"

#include <algorithm>
#include <stdexcept>

#include "templates/reference.hpp"

namespace kiln {
namespace {

/// parse_spec has checked that steps name what exists; a name without memory is a defect of ours.
const Buffer& require_buffer(const BufferLookup& find_buffer, const std::string& name) {
  const Buffer* buffer = find_buffer(name);
  if (buffer == nullptr) throw std::logic_error("no device memory stands for '" + name + "'");
  return *buffer;
}

KernelArgument argument_named(const std::string& name, const LaunchPlan& plan, const StepPlan& step,
                              const BufferLookup& find_buffer) {
  if (const std::uint32_t* bytes = step.find_local(name))
    return {.kind = KernelArgument::Kind::local, .buffer = {}, .scalar_bytes = *bytes};
  if (const ScalarPlan* scalar = plan.find_scalar(name))
    return scalar_argument(scalar->dtype, scalar->value);
  KernelArgument argument;
  argument.buffer = require_buffer(find_buffer, name);
  return argument;
}

}  // namespace

KernelArgument scalar_argument(DType dtype, const Value& value) {
  HostArray array(dtype, {1});  // knows how to store every element type
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole != nullptr && size_of(dtype) == sizeof *whole && !is_floating(dtype)) {
    *array.elements<std::int64_t>() = *whole;  // a double would round it
  } else {
    array.set(0, as_double(value));
  }
  KernelArgument argument;
  argument.kind = KernelArgument::Kind::scalar;
  argument.scalar_bytes = size_of(dtype);
  std::copy_n(array.data.begin(), argument.scalar_bytes, argument.scalar.begin());
  return argument;
}

LaunchSequence::LaunchSequence(const LaunchPlan& plan, Module& module,
                               const BufferLookup& find_buffer) {
  for (const StepPlan& planned : plan.steps) {
    auto step = std::make_unique<Step>();
    if (planned.kind == StepKind::clear) {
      step->is_clear = true;
      step->cleared = require_buffer(find_buffer, planned.buffer);
    } else {
      step->entry = planned.entry;
      for (const std::string& name : planned.arguments) {
        if (const TensorMapPlan* map = plan.find_tensor_map(name)) {
          step->maps.push_back(
              std::make_unique<Map>(Map{*map, require_buffer(find_buffer, map->buffer), {}}));
          KernelArgument& argument = step->arguments.emplace_back();
          argument.kind = KernelArgument::Kind::tensor_map;
          argument.tensor_map = &step->maps.back()->bytes;
        } else {
          step->arguments.push_back(argument_named(name, plan, planned, find_buffer));
        }
      }
      for (const std::string& name : planned.constants) {
        const Buffer& buffer = require_buffer(find_buffer, name);
        step->constants.push_back({name, buffer, buffer.bytes});
      }
      step->launch = {&module,         step->entry,     planned.grid,
                      planned.block,   planned.cluster, planned.shared_bytes,
                      step->arguments, step->constants, planned.programmatic};
    }
    steps_.push_back(std::move(step));
  }
}

Status LaunchSequence::encode_maps(Device& device, Step& step) {
  for (const auto& map : step.maps) {
    const Result<TensorMapBytes> bytes = device.encode(map->plan, map->buffer);
    if (!bytes) return bytes.failure();
    map->bytes = *bytes;
  }
  step.maps_are_encoded = true;
  return Done{};
}

Status LaunchSequence::enqueue(Device& device) const {
  for (const auto& step : steps_) {
    if (!step->maps_are_encoded) {
      if (Status status = encode_maps(device, *step); !status) return status;
    }
    Status status = step->is_clear ? device.fill(step->cleared, 0, step->cleared.bytes, 0)
                                   : device.launch(step->launch);
    if (!status) return status;
  }
  return Done{};
}

}  // namespace kiln
