// The command line of a worker process: which kind, for which device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// Environment variable: the folder for builds.
inline constexpr const char* kBuildsVariable = "KILN_BUILDS";

enum class WorkerKind {
  compile,   ///< turns sources into binaries
  device,    ///< owns one device: verifies and measures
  list,      ///< lists the devices of a backend, and ends
  ceilings,  ///< measures the ceilings of one device, and ends
};

struct WorkerOptions {
  WorkerKind kind = WorkerKind::compile;
  std::string backend;
  int device = 0;  ///< ordinal within the backend; only the device worker uses it
};

/// Returns the arguments that start a program of ours as such a worker: {"worker", "compile",
/// "--backend", ...}.
[[nodiscard]] std::vector<std::string> to_arguments(const WorkerOptions& options);

/// The inverse, for main(): nullopt if the command line is for another command.
[[nodiscard]] std::optional<WorkerOptions> parse_worker_arguments(int argc,
                                                                  const char* const* argv);

}  // namespace kiln
