// Entry of a worker process, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

#include "backends/backend.hpp"
#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "tuner/child_process.hpp"
#include "tuner/command_engine.hpp"
#include "tuner/messages.hpp"
#include "tuner/trial_engine.hpp"
#include "tuner/worker_loops.hpp"

namespace kiln {
namespace {

std::string_view name_of(WorkerKind kind) {
  switch (kind) {
    case WorkerKind::compile:
      return "compile";
    case WorkerKind::device:
      return "device";
    case WorkerKind::list:
      return "list";
    case WorkerKind::ceilings:
      return "ceilings";
  }
  return "";
}

}  // namespace

std::vector<std::string> to_arguments(const WorkerOptions& options) {
  return {"worker",   std::string(name_of(options.kind)), "--backend", options.backend,
          "--device", std::to_string(options.device)};
}

std::optional<WorkerOptions> parse_worker_arguments(int argc, const char* const* argv) {
  if (argc != 7 || std::string_view(argv[1]) != "worker") return std::nullopt;
  WorkerOptions options;
  bool known = false;
  for (const WorkerKind kind :
       {WorkerKind::compile, WorkerKind::device, WorkerKind::list, WorkerKind::ceilings}) {
    if (name_of(kind) != argv[2]) continue;
    options.kind = kind;
    known = true;
  }
  const std::string_view device = argv[6];
  const auto [end, error] =
      std::from_chars(device.data(), device.data() + device.size(), options.device);
  if (!known || error != std::errc() || end != device.data() + device.size()) return std::nullopt;
  options.backend = argv[4];
  return options;
}

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
