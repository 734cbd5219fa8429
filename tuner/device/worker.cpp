// Serves the requests of one kind of worker, and tells the supervisor why if it cannot.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/worker.hpp"

#include <cstdio>
#include <exception>

#include "backends/backend.hpp"
#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "tuner/device/command_engine.hpp"
#include "tuner/device/trial_engine.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/child_process.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {

void serve_device_list(const WorkerOptions& options, BlockingChannel& channel) {
  (void)channel.send(encode(DeviceList{make_backend(options.backend)->devices()}));
}

WorkerParts real_parts() {
  const auto open_compiler = [](const WorkerOptions& options, const DeviceInfo& target) {
    if (options.backend == kCommandBackend) return make_command_compiler();
    return make_backend(options.backend)->open_compiler(target);
  };
  const auto open_engine = [](const WorkerOptions& options) {
    if (options.backend == kCommandBackend) return make_command_engine();
    return open_device_engine(options.backend, options.device);
  };
  return {open_compiler, open_engine};
}

int run_worker(const WorkerOptions& options, const WorkerParts& parts) {
  BlockingChannel channel(kWorkerSocket);
  try {
    switch (options.kind) {
      case WorkerKind::compile:
        serve_compile_jobs(options, parts, channel);
        break;
      case WorkerKind::device:
        serve_device_jobs(options, parts, channel);
        break;
      case WorkerKind::list:
        serve_device_list(options, channel);
        break;
      case WorkerKind::ceilings:
        serve_ceilings(options, channel);
        break;
    }
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    (void)channel.send(encode(Unavailable{error.what(), error.code()}));
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    // A worker's stderr is a pipe to the supervisor, which quotes it in the obituary.
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace kiln
