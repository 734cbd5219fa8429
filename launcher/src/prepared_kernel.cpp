// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/prepared_kernel.hpp"

#include <stdexcept>
#include <utility>

namespace kiln {
namespace {

LaunchErrorCode code_of(Outcome outcome) {
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

PreparedKernel::PreparedKernel(std::shared_ptr<Runtime> runtime, Parts parts)
    : runtime_(std::move(runtime)),
      parts_(std::move(parts)),
      binder_(*parts_.spec, parts_.plan, runtime_->info().backend != "opencl") {
  resolve_slots();
}

Expected<std::unique_ptr<PreparedKernel>> PreparedKernel::make(std::shared_ptr<Runtime> runtime,
                                                               Parts parts) {
  std::unique_ptr<PreparedKernel> kernel(new PreparedKernel(std::move(runtime), std::move(parts)));
  Expected<std::unique_ptr<QueueState>> own = kernel->make_queue_state(nullptr);
  if (!own) {
    return own.error();
  }
  kernel->queues_.push_back(std::move(*own));
  return kernel;
}

PreparedKernel::~PreparedKernel() {
  const auto held = runtime_->lock();
  for (const std::unique_ptr<QueueState>& state : queues_) {
    release(*state);
  }
}

void PreparedKernel::resolve_slots() {
  for (const StepPlan& step : parts_.plan.steps) {
    StepSlots slots;
    if (step.kind == StepKind::clear) {
      slots.cleared = slot_of(step.buffer).index;
    }
    for (const std::string& name : step.arguments) {
      slots.arguments.push_back(slot_of(name));
    }
    for (const std::string& name : step.constants) {
      slots.constants.push_back(slot_of(name).index);
      has_constants_ = true;
    }
    slots_.push_back(std::move(slots));
  }
}

PreparedKernel::Slot PreparedKernel::slot_of(const std::string& name) const {
  const LaunchPlan& plan = parts_.plan;
  if (const BufferPlan* buffer = plan.find_buffer(name)) {
    return {Slot::Kind::buffer, static_cast<std::size_t>(buffer - plan.buffers.data())};
  }
  if (const ScalarPlan* scalar = plan.find_scalar(name)) {
    return {Slot::Kind::scalar, static_cast<std::size_t>(scalar - plan.scalars.data())};
  }
  throw std::logic_error("a step names '" + name + "', which its plan lacks");
}

// Not under the runtime's lock: loading may compile.
Expected<std::unique_ptr<PreparedKernel::QueueState>> PreparedKernel::make_queue_state(
    void* queue) {
  const Runtime::Instance instance =
      has_constants_ ? reinterpret_cast<Runtime::Instance>(queue) : 0;
  const Result<Runtime::Loaded> loaded = runtime_->load(parts_.source, instance);
  if (!loaded) {
    return to_error(loaded.failure());
  }
  from_cache_ = loaded->from_cache;
  auto state = std::make_unique<QueueState>();
  state->queue = queue;
  state->module = loaded->module;
  state->bound = binder_.empty();
  for (std::size_t step = 0; step < slots_.size(); ++step) {
    state->arguments.emplace_back(slots_[step].arguments.size());
    auto& constants = state->constants.emplace_back();
    for (const std::string& name : parts_.plan.steps[step].constants) {
      constants.push_back({name, {}, 0});
    }
  }
  if (Expected<void> allocated = allocate_workspaces(*state); !allocated) {
    return allocated.error();
  }
  return state;
}

Expected<void> PreparedKernel::allocate_workspaces(QueueState& state) {
  state.workspaces.resize(parts_.plan.buffers.size());
  if (parts_.workspace == Launcher::Workspace::caller) {
    return {};
  }
  const auto held = runtime_->lock();
  Device& device = runtime_->on_queue(state.queue);
  for (std::size_t i = 0; i < parts_.plan.buffers.size(); ++i) {
    const BufferPlan& plan = parts_.plan.buffers[i];
    if (!plan.workspace) {
      continue;
    }
    Result<Buffer> buffer = device.allocate(static_cast<std::size_t>(plan.bytes()));
    if (!buffer) {
      release(state);
      LaunchError error = to_error(buffer.failure());
      error.message += " (workspace '" + plan.name + "')";
      return error;
    }
    state.workspaces[i] = *buffer;
    if (plan.zeroed) {  // once: every run leaves it so
      if (Status zeroed = device.fill(*buffer, 0, buffer->bytes, 0); !zeroed) {
        release(state);
        return to_error(zeroed.failure());
      }
    }
  }
  return {};
}

void PreparedKernel::release(QueueState& state) {
  for (Buffer& workspace : state.workspaces) {
    if (workspace.handle != 0) {
      runtime_->on_queue(nullptr).release(std::exchange(workspace, {}));
    }
  }
}

PreparedKernel::QueueState* PreparedKernel::find_queue_state(void* queue) {
  for (const std::unique_ptr<QueueState>& state : queues_) {
    if (state->queue == queue) {
      return state.get();
    }
  }
  return nullptr;
}

Expected<void> PreparedKernel::launch(void* queue, std::span<const LaunchArgument> arguments) {
  auto held = runtime_->lock();
  QueueState* state = find_queue_state(queue);
  if (state == nullptr) {
    held.unlock();
    Expected<std::unique_ptr<QueueState>> made = make_queue_state(queue);
    if (!made) {
      return made.error();
    }
    held.lock();
    state = find_queue_state(queue);  // another thread may have been faster
    if (state == nullptr) {
      state = queues_.emplace_back(std::move(*made)).get();
    } else {
      release(**made);
    }
  }
  if (Expected<void> bound = binder_.bind(arguments, state->workspaces, state->bound); !bound) {
    return bound;
  }
  Device& device = runtime_->on_queue(queue);
  for (std::size_t step = 0; step < slots_.size(); ++step) {
    if (const Status done = run_step(step, device, *state); !done) {
      return to_error(done.failure());
    }
  }
  return {};
}

Status PreparedKernel::run_step(std::size_t step, Device& device, QueueState& state) const {
  const StepPlan& plan = parts_.plan.steps[step];
  const StepSlots& slots = slots_[step];
  const BoundArguments& bound = state.bound;
  if (plan.kind == StepKind::clear) {
    const Buffer& buffer = bound.buffers[slots.cleared];
    return device.fill(buffer, 0, buffer.bytes, 0);
  }
  std::vector<KernelArgument>& arguments = state.arguments[step];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Slot& slot = slots.arguments[i];
    if (slot.kind == Slot::Kind::buffer) {
      arguments[i].kind = KernelArgument::Kind::buffer;
      arguments[i].buffer = bound.buffers[slot.index];
    } else {
      arguments[i].kind = KernelArgument::Kind::scalar;
      arguments[i].scalar = bound.scalars[slot.index].bytes;
      arguments[i].scalar_bytes = bound.scalars[slot.index].size;
    }
  }
  std::vector<ConstantArgument>& constants = state.constants[step];
  for (std::size_t i = 0; i < constants.size(); ++i) {
    constants[i].buffer = bound.buffers[slots.constants[i]];
    constants[i].bytes = constants[i].buffer.bytes;
  }
  return device.launch({.module = state.module,
                        .entry = plan.entry,
                        .grid = plan.grid,
                        .block = plan.block,
                        .cluster = plan.cluster,
                        .shared_bytes = plan.shared_bytes,
                        .arguments = arguments,
                        .constants = constants});
}

LaunchError PreparedKernel::to_error(const Failure& failure) const {
  return {code_of(failure.outcome), parts_.spec->name + ": " + failure.message};
}

}  // namespace kiln
