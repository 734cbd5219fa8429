// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/worker_options.hpp"

#include <charconv>
#include <string_view>

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

}  // namespace kiln
