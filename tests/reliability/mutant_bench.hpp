// Puts many binaries of one problem through the real compile workers and the real device worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/trial.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/device_client.hpp"

namespace kiln {

class MutantBench {
 public:
  /// Opens the backend's first device.
  explicit MutantBench(const std::string& backend);

  [[nodiscard]] const DeviceInfo& device() const { return info_; }

  /// One compile each; results by position.
  [[nodiscard]] std::vector<CompileReport> compile(const std::vector<Source>& sources);

  struct Job {
    Config config;
    LaunchPlan plan;
    const Binary* binary = nullptr;
  };
  /// Checks and measures (barely) every job on the problem that `problem` describes. A worker that
  /// dies is held against the job at once.
  [[nodiscard]] std::vector<TrialReport> run(const ProblemJob& problem,
                                             const std::vector<Job>& jobs);

 private:
  WorkerHost host_;
  DeviceClient device_;
  DeviceInfo info_;
};

}  // namespace kiln
