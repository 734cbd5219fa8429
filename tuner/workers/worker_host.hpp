// WorkerHost: starts workers of this program, each with a private folder for its driver's caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tuner/workers/child_process.hpp"
#include "tuner/workers/worker_options.hpp"

namespace kiln {

class WorkerHost {
 public:
  /// `program`: the program to execute; empty: this program, which must then call run_worker (see
  /// worker.hpp). Makes a scratch folder (0700) and removes the folders of this user's killed
  /// programs.
  explicit WorkerHost(std::filesystem::path program = {});
  ~WorkerHost();
  WorkerHost(const WorkerHost&) = delete;

  /// Returns the command line and environment of a new worker. Throws UsageError if KILN_HIP_ROOT
  /// applies and holds no HIP (tuner/workers/hip_root.hpp).
  [[nodiscard]] ChildCommand command(const WorkerOptions& options);

  /// Throws TransientError if the file system of the scratch folder is full and `backend` writes
  /// temporary files, Error if `ulimit -f` allows none. The compiler might call that a fault of the
  /// source.
  void require_room(std::string_view backend) const;

  /// Throws Error if a worker died because this machine or shell does not have what every compiler
  /// needs. `obituary`: what the worker's end says.
  static void require_system(const std::string& obituary);
  /// The sentence that require_system() throws; empty if there is no such cause.
  [[nodiscard]] static std::string lack_of_system(const std::string& obituary);

 private:
  std::filesystem::path program_;
  std::filesystem::path scratch_;
  int owner_ = -1;  ///< holds the lock in the scratch folder
  int started_ = 0;
};

}  // namespace kiln
