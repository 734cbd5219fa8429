// WorkerHost: how workers of this program are started, each with a private folder for its driver's
// caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tuner/child_process.hpp"
#include "tuner/worker.hpp"

namespace kiln {

class WorkerHost {
 public:
  /// `program`: what to execute; empty: this very program (it must call run_worker when asked to,
  /// see worker.hpp). Makes a scratch folder (0700) and removes those that killed programs of this
  /// user left behind.
  explicit WorkerHost(std::filesystem::path program = {});
  ~WorkerHost();
  WorkerHost(const WorkerHost&) = delete;

  /// A fresh worker's command line and environment.
  [[nodiscard]] ChildCommand command(const WorkerOptions& options);

  /// Throws TransientError when the file system of the scratch folder is full and `backend` writes
  /// temporary files, which it may then call a fault of the source.
  void require_room(std::string_view backend) const;

 private:
  std::filesystem::path program_;
  std::filesystem::path scratch_;
  int started_ = 0;
};

}  // namespace kiln
