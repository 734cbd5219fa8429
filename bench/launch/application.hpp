// An application with a queue of its own, as the launcher meets it, that can also launch without
// the launcher: the plain driver call that a hand-written program would make.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/artifact.hpp"
#include "core/device.hpp"
#include "core/launch_plan.hpp"

namespace kiln::launch_bench {

/// A launch through the driver alone: parameters bound once, nothing looked up.
class RawLaunch {
 public:
  virtual ~RawLaunch() = default;
  virtual void launch() = 0;
};

class Application {
 public:
  virtual ~Application() = default;
  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  [[nodiscard]] virtual Launcher::Options options() const = 0;
  [[nodiscard]] virtual void* queue() const = 0;
  /// Device memory of `floats` times `value`, kept until the program ends.
  [[nodiscard]] virtual void* upload(std::size_t floats, float value) = 0;
  [[nodiscard]] virtual float download(void* memory) = 0;
  virtual void wait() = 0;
  /// `step`, the only one of its plan, over the plan's buffers in `memory`.
  [[nodiscard]] virtual std::unique_ptr<RawLaunch> raw_launch(const Source& source,
                                                              const LaunchPlan& plan,
                                                              const std::vector<void*>& memory) = 0;
  /// Captures `work` on the queue into a graph and runs it `times` times; nullopt where the backend
  /// has no graphs.
  [[nodiscard]] virtual bool has_graphs() const { return false; }
  virtual void run_as_graph(const std::function<void()>& /*work*/, int /*times*/) {}
};

/// "cuda" or "opencl". Throws DeviceError where there is no such device.
[[nodiscard]] std::unique_ptr<Application> make_application(const std::string& backend);
[[nodiscard]] std::unique_ptr<Application> make_cuda_application();
[[nodiscard]] std::unique_ptr<Application> make_opencl_application();

/// The bytes of a scalar that follows from the problem.
[[nodiscard]] std::vector<std::byte> scalar_bytes(const ScalarPlan& scalar);

}  // namespace kiln::launch_bench
