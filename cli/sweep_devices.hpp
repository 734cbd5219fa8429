// A sweep over one or several devices: one session on each at a time, one store, shared compilers.
//
// Devices with equal identity, driver and compiler form a class. Each class tunes each of its
// sessions once. A device that goes away returns its session and is tried again until the patience
// is over.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cli/planned.hpp"
#include "cli/search_options.hpp"
#include "cli/session_report.hpp"
#include "core/device.hpp"
#include "db/store.hpp"

namespace kiln::cli {

struct DeviceClass {
  std::vector<DeviceInfo> devices;
  std::vector<ReadySession> sessions;  ///< in the plan's order
  /// One for each session that was begun, at the session's index.
  std::vector<std::optional<SessionSummary>> summaries = {};

  /// "NVIDIA H100 (cuda:0, cuda:1)"
  [[nodiscard]] std::string name() const;
};

/// Without sessions; in the order of the first device of each class.
[[nodiscard]] std::vector<DeviceClass> classes_of(const std::vector<DeviceInfo>& devices);

/// What ended a sweep before all sessions were done.
struct SweepEnd {
  std::size_t left = 0;  ///< sessions that are not done
  /// The store failed, or every device of a class went away; nullptr: neither.
  std::exception_ptr error;
};

/// Runs the sessions of `classes` and fills their summaries. Returns when all are done, a signal
/// came, or what is left has no device. Sessions that fail have a summary with the error.
[[nodiscard]] SweepEnd sweep_devices(std::vector<DeviceClass>& classes, Store& store,
                                     const SearchOptions& options);

}  // namespace kiln::cli
