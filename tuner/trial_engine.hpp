// TrialEngine: what the device worker does with a device, behind an interface.
//
// The device worker turns messages into these calls. The one engine of today drives a real Device;
// a scripted one can stand in its place to rehearse hangs, crashes and noise without a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/messages.hpp"

namespace kiln {

class TrialEngine {
 public:
  virtual ~TrialEngine() = default;
  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  /// Why energy cannot be measured; empty: it can.
  [[nodiscard]] virtual std::string energy_unavailable() const = 0;
  /// Makes arguments and references for one problem, in place of the ones before. A Failure ends
  /// the session (out of memory, a spec whose reference fails); InputError and DeviceError are
  /// thrown for what a user must mend.
  [[nodiscard]] virtual ProblemReport prepare(const ProblemJob& job) = 0;
  /// Verifies, calls `checked`, measures, verifies again.
  [[nodiscard]] virtual TrialReport run(const TrialJob& job,
                                        const std::function<void(const Checked&)>& checked) = 0;
  /// Runs the configs in turn, round after round.
  [[nodiscard]] virtual FinalsReport run_finals(const FinalsJob& job) = 0;
};

/// Opens the device. Throws DeviceError when it is not there, UsageError for an unknown backend.
[[nodiscard]] std::unique_ptr<TrialEngine> open_device_engine(const std::string& backend,
                                                              int ordinal);

}  // namespace kiln
