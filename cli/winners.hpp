// Which kernels `kiln prebuild` and `kiln export` mean: problems on a device, and what the launcher
// would run for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "core/artifact.hpp"
#include "core/device.hpp"
#include "core/launch_plan.hpp"
#include "core/timing.hpp"
#include "lookup/lookup.hpp"

namespace kiln::cli {

/// The device that binaries are made for, and the options that name it.
struct TargetOptions {
  std::string device = "auto";
  std::string backend = "cuda";  ///< of `architecture`
  std::string architecture;      ///< set: no device is asked
  bool no_shipped = false;       ///< for a launcher with use_shipped = false
};
void add_target_options(CLI::App& command, TargetOptions& options);

/// What a launcher would run for one problem: rendered, not compiled.
struct Winner {
  DeviceInfo device;
  KernelSpec spec;
  Problem problem;
  Match match;
  LaunchPlan plan;
  Source source;
};

/// Finds and renders winners for one device, or for an architecture. Bests come from the database,
/// where it is there, and from the shipped wisdom, unless the options say no.
class Winners {
 public:
  /// Throws DeviceError, DatabaseError.
  Winners(const CommonOptions& common, const TargetOptions& target);

  /// Of an architecture: one that nobody has tuned on.
  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  /// For device(). Throws InputError for the kernel or the problem, DeviceError where no config is
  /// legal.
  [[nodiscard]] Winner find(const std::string& kernel, const std::string& problem,
                            Timing timing) const;
  /// For device() and, of an architecture, for each device of it that has bests of the kernel: what
  /// would run, and what would run in a graph, if that is something else. Throws as find().
  [[nodiscard]] std::vector<Winner> find_all(const std::string& kernel,
                                             const std::string& problem) const;

 private:
  [[nodiscard]] Winner find_on(const DeviceInfo& device, const KernelSpec& spec,
                               const std::string& problem, const std::vector<BestRecord>& bests,
                               Timing timing) const;
  [[nodiscard]] std::vector<BestRecord> shipped_of(const std::string& kernel) const;
  std::vector<BestRecord> bests_of(const std::string& kernel) const;
  [[nodiscard]] DeviceInfo choose(const TargetOptions& target) const;

  CommonOptions common_;
  KernelLibrary library_;
  std::vector<BestRecord> stored_;
  DeviceInfo device_;
  bool for_architecture_;
  bool asks_shipped_;
};

}  // namespace kiln::cli
