// LaunchSequence: the steps of one config, bound to a loaded module and to buffers, ready to be
// enqueued many times.
//
// All names are resolved when it is built. Enqueueing is a loop over prepared Launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/launch_plan.hpp"

namespace kiln {

/// Maps the name of an argument or workspace to its device memory; nullptr if the name is unknown.
using BufferLookup = std::function<const Buffer*(const std::string& name)>;

/// Something that a device does and that can be timed.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  /// Puts it on the device's queue; does not wait.
  [[nodiscard]] virtual Status enqueue(Device& device) const = 0;
};

class LaunchSequence final : public DeviceWork {
 public:
  /// Binds `plan` and copies what it needs. `module` must outlive the sequence.
  LaunchSequence(const LaunchPlan& plan, Module& module, const BufferLookup& find_buffer);
  LaunchSequence(LaunchSequence&&) = default;
  LaunchSequence& operator=(LaunchSequence&&) = default;

  /// Puts all steps on the queue, in order; does not wait.
  [[nodiscard]] Status enqueue(Device& device) const override;

 private:
  struct Map {
    TensorMapPlan plan;
    Buffer buffer;
    TensorMapBytes bytes;
  };
  struct Step {
    bool is_clear = false;
    Buffer cleared;
    std::string entry;
    std::vector<KernelArgument> arguments;
    std::vector<ConstantArgument> constants;
    std::vector<std::unique_ptr<Map>> maps;  ///< of `arguments`
    bool maps_are_encoded = false;           ///< by the first enqueue
    Launch launch;  ///< its views point into this Step: steps are never moved
  };
  [[nodiscard]] static Status encode_maps(Device& device, Step& step);
  std::vector<std::unique_ptr<Step>> steps_;
};

/// A scalar as a kernel takes it: `value` converted to `dtype`.
[[nodiscard]] KernelArgument scalar_argument(DType dtype, const Value& value);

}  // namespace kiln
