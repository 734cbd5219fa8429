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
#include "db/lookup.hpp"

namespace kiln::cli {

/// The device that binaries are made for, and the options that name it.
struct TargetOptions {
  std::string device = "auto";
  std::string backend = "cuda";  ///< of `architecture`
  std::string architecture;      ///< set: no device is asked
};
void add_target_options(CLI::App& command, TargetOptions& options);

/// What a launcher would run for one problem: rendered, not compiled.
struct Winner {
  KernelSpec spec;
  Problem problem;
  Match match;
  LaunchPlan plan;
  Source source;
};

/// Finds and renders winners for one device. Bests come from the database, where it is there, and
/// from the shipped wisdom.
class Winners {
 public:
  /// Throws DeviceError, DatabaseError.
  Winners(const CommonOptions& common, const TargetOptions& target);

  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  /// Throws InputError for the kernel or the problem, DeviceError where no config is legal.
  [[nodiscard]] Winner find(const std::string& kernel, const std::string& problem) const;

 private:
  std::vector<BestRecord> bests_of(const std::string& kernel) const;
  [[nodiscard]] DeviceInfo choose(const TargetOptions& target) const;

  CommonOptions common_;
  KernelLibrary library_;
  std::vector<BestRecord> stored_;
  DeviceInfo device_;
};

}  // namespace kiln::cli
