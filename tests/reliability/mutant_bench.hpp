// Puts many binaries of one problem through the real compile workers and the real device worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/trial.hpp"
#include "tuner/workers/compile_pool.hpp"
#include "tuner/workers/device_client.hpp"

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
    const Binary* binary = nullptr;
  };
  /// What is known of the time that a run takes: a job that takes far longer hangs.
  enum class Pace {
    unknown,  ///< nothing: a minute
    known,    ///< it is that of the jobs that ran on this problem before: a second
    similar,  ///< those were of another size: ten seconds
  };
  /// Checks and measures (barely) every job on the problem that `problem` describes. A worker that
  /// dies is held against the job at once. The next jobs of an equal problem find it prepared.
  [[nodiscard]] std::vector<TrialReport> run(const ProblemJob& problem,
                                             const std::vector<Job>& jobs, Pace pace);

 private:
  WorkerHost host_;
  DeviceClient device_;
  DeviceInfo info_;
  std::optional<std::pair<std::vector<std::pair<std::string, Value>>, std::uint64_t>> prepared_;
  double best_ns_ = 0;  ///< of the jobs that ran on the prepared problem; 0: none
};

}  // namespace kiln
