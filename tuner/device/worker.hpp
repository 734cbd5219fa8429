// A worker process: the same program, executed again, connected to the supervisor by one socket.
//
// `kiln worker compile|device|list --backend B --device N` is a hidden command that ends in
// run_worker. Workers are processes because kernels crash and hang, compilers too, and two vendors'
// runtimes may not share one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "tuner/workers/worker_options.hpp"

namespace kiln {

class Compiler;
class TrialEngine;
struct DeviceInfo;

/// The tools of a worker. A test program replaces the compiler or the device by a script;
/// processes, messages and deadlines are the real ones.
struct WorkerParts {
  std::function<std::unique_ptr<Compiler>(const WorkerOptions&, const DeviceInfo& target)>
      open_compiler;
  std::function<std::unique_ptr<TrialEngine>(const WorkerOptions&)> open_engine;
};

/// The compiler and the device that the options name.
[[nodiscard]] WorkerParts real_parts();

/// Serves the socket at descriptor kWorkerSocket until it closes. Returns the process's exit code.
/// Never throws.
[[nodiscard]] int run_worker(const WorkerOptions& options, const WorkerParts& parts = real_parts());

}  // namespace kiln
