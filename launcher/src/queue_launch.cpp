// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/queue_launch.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kiln {
namespace {

LaunchErrorCode code_of_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::constraint:
      return LaunchErrorCode::impossible;
    case Outcome::compile_error:
    case Outcome::compile_timeout:
    case Outcome::compile_crash:
      return LaunchErrorCode::compile_failed;
    case Outcome::out_of_memory:
      return LaunchErrorCode::out_of_memory;
    default:
      return LaunchErrorCode::device_failed;
  }
}

}  // namespace

LaunchError to_error(const KernelSpec& spec, const Failure& failure) {
  return {code_of_outcome(failure.outcome), spec.name + ": " + failure.message};
}

QueueLaunch::QueueLaunch(std::shared_ptr<Runtime> runtime, const KernelParts& parts,
                         const ArgumentBinder& binder, void* queue)
    : runtime_(std::move(runtime)),
      parts_(parts),
      binder_(binder),
      queue_(queue),
      bound_(binder.empty()) {}

Expected<std::unique_ptr<QueueLaunch>> QueueLaunch::make(std::shared_ptr<Runtime> runtime,
                                                         const KernelParts& parts,
                                                         const ArgumentBinder& binder,
                                                         void* queue) {
  std::unique_ptr<QueueLaunch> made(new QueueLaunch(std::move(runtime), parts, binder, queue));
  if (const Status loaded = made->load(); !loaded) {
    return to_error(*parts.spec, loaded.failure());
  }
  if (Expected<void> allocated = made->allocate_workspaces(); !allocated) {
    return allocated.error();
  }
  return made;
}

QueueLaunch::~QueueLaunch() {
  if (program_ != nullptr && program_->taken) runtime_->release(program_);
  const auto held = runtime_->lock();
  for (const Buffer& workspace : workspaces_) {
    if (workspace.handle != 0) {
      runtime_->on_queue(nullptr).release(workspace);
    }
  }
}

QueueLaunch::Slot QueueLaunch::slot_of(const std::string& name) const {
  const LaunchPlan& plan = parts_.plan;
  if (const BufferPlan* buffer = plan.find_buffer(name)) {
    return {Slot::Kind::buffer, static_cast<std::size_t>(buffer - plan.buffers.data())};
  }
  if (const ScalarPlan* scalar = plan.find_scalar(name)) {
    return {Slot::Kind::scalar, static_cast<std::size_t>(scalar - plan.scalars.data())};
  }
  if (const TensorMapPlan* map = plan.find_tensor_map(name)) {
    return {Slot::Kind::tensor_map, static_cast<std::size_t>(map - plan.tensor_maps.data())};
  }
  throw std::logic_error("a step names '" + name + "', which its plan lacks");
}

std::size_t QueueLaunch::buffer_slot(const std::string& name) const { return slot_of(name).index; }

// Not under the runtime's lock until the program is there: loading may compile. Constants are part
// of a program's memory, which another kernel of the same source would write to as well.
Status QueueLaunch::load() {
  const bool has_constants =
      std::any_of(parts_.plan.steps.begin(), parts_.plan.steps.end(),
                  [](const StepPlan& step) { return !step.constants.empty(); });
  const Result<Runtime::Program*> loaded =
      has_constants ? runtime_->take(parts_.source, queue_) : runtime_->load(parts_.source);
  if (!loaded) {
    return loaded.failure();
  }
  program_ = *loaded;
  steps_.resize(parts_.plan.steps.size());  // in full now: prepared launches refer into it
  for (const TensorMapPlan& map : parts_.plan.tensor_maps) {
    maps_.emplace_back().buffer_slot = buffer_slot(map.buffer);
  }
  const auto held = runtime_->lock();
  device_ = &runtime_->on_queue(queue_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (Status prepared = prepare_step(parts_.plan.steps[i], steps_[i]); !prepared) {
      return prepared;
    }
  }
  return Done{};
}

Status QueueLaunch::prepare_step(const StepPlan& plan, Step& step) {
  Device& device = runtime_->on_queue(queue_);
  const auto take = [&step](Result<std::unique_ptr<PreparedLaunch>> made) -> Status {
    if (!made) {
      return made.failure();
    }
    step.launch = std::move(*made);
    return Done{};
  };
  if (plan.kind == StepKind::clear) {
    return take(device.prepare_clear(bound_.buffers[buffer_slot(plan.buffer)], queue_));
  }
  for (const std::string& name : plan.arguments) {
    const std::uint32_t* local = plan.find_local(name);
    const Slot slot = local != nullptr ? Slot{Slot::Kind::local, *local} : slot_of(name);
    step.slots.push_back(slot);
    KernelArgument& argument = step.arguments.emplace_back();
    if (slot.kind == Slot::Kind::scalar) {
      argument.kind = KernelArgument::Kind::scalar;
      argument.scalar_bytes = bound_.scalars[slot.index].size;
    } else if (slot.kind == Slot::Kind::local) {
      argument.kind = KernelArgument::Kind::local;
      argument.scalar_bytes = slot.index;
    } else if (slot.kind == Slot::Kind::tensor_map) {
      argument.kind = KernelArgument::Kind::tensor_map;
      argument.tensor_map = &maps_[slot.index].bytes;
    }
  }
  for (const std::string& name : plan.constants) {
    const std::size_t slot = buffer_slot(name);
    step.constant_slots.push_back(slot);
    step.constants.push_back(
        {name, {}, static_cast<std::size_t>(parts_.plan.buffers[slot].bytes())});
  }
  return take(device.prepare_launch({.module = program_->module.get(),
                                     .entry = plan.entry,
                                     .grid = plan.grid,
                                     .block = plan.block,
                                     .cluster = plan.cluster,
                                     .shared_bytes = plan.shared_bytes,
                                     .arguments = step.arguments,
                                     .constants = step.constants,
                                     .programmatic = plan.programmatic},
                                    queue_));
}

Expected<void> QueueLaunch::allocate_workspaces() {
  workspaces_.resize(parts_.plan.buffers.size());
  if (parts_.workspace == Launcher::Workspace::caller) {
    return {};
  }
  const auto held = runtime_->lock();
  Device& device = runtime_->on_queue(queue_);
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    const BufferPlan& plan = parts_.plan.buffers[i];
    if (!plan.workspace) {
      continue;
    }
    Result<Buffer> buffer = device.allocate(static_cast<std::size_t>(plan.bytes()));
    if (!buffer) {
      LaunchError error = to_error(*parts_.spec, buffer.failure());
      error.message += " (workspace '" + plan.name + "')";
      return error;
    }
    workspaces_[i] = *buffer;
    if (plan.zeroed) {  // once: every run leaves it so
      if (const Status zeroed = device.fill(*buffer, 0, buffer->bytes, 0); !zeroed) {
        return to_error(*parts_.spec, zeroed.failure());
      }
    }
  }
  return {};
}

Expected<void> QueueLaunch::launch(std::span<const LaunchArgument> arguments) {
  const std::lock_guard held(mutex_);
  if (Expected<void> wrong = binder_.bind(arguments, workspaces_, bound_); !wrong) {
    return wrong;
  }
  for (Step& step : steps_) {
    if (const Status filled = fill_in(step); !filled) {
      return to_error(*parts_.spec, filled.failure());
    }
    if (const Status done = step.launch->run(); !done) {
      return to_error(*parts_.spec, done.failure());
    }
  }
  return {};
}

Status QueueLaunch::update_map(std::size_t index) {
  Map& map = maps_[index];
  const Buffer& buffer = bound_.buffers[map.buffer_slot];
  const std::uintptr_t address = buffer.handle + buffer.offset;
  if (map.address == address) {
    return Done{};
  }
  const Result<TensorMapBytes> bytes = device_->encode(parts_.plan.tensor_maps[index], buffer);
  if (!bytes) {
    return bytes.failure();
  }
  map.bytes = *bytes;
  map.address = address;
  return Done{};
}

Status QueueLaunch::fill_in(Step& step) {
  for (std::size_t i = 0; i < step.slots.size(); ++i) {
    const Slot& slot = step.slots[i];
    if (slot.kind == Slot::Kind::buffer) {
      step.arguments[i].buffer = bound_.buffers[slot.index];
    } else if (slot.kind == Slot::Kind::tensor_map) {
      if (Status updated = update_map(slot.index); !updated) {
        return updated;
      }
    } else if (slot.kind == Slot::Kind::scalar) {
      step.arguments[i].scalar = bound_.scalars[slot.index].bytes;
    }
  }
  for (std::size_t i = 0; i < step.constants.size(); ++i) {
    step.constants[i].buffer = bound_.buffers[step.constant_slots[i]];
  }
  return Done{};
}

}  // namespace kiln
