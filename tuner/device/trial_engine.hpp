// TrialEngine: the device worker's work on a device, as an interface.
//
// The device worker turns messages into these calls. The engine drives a real Device. A scripted
// engine can take its place, to play hangs, crashes and noise without a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/workers/messages.hpp"

namespace kiln {

class TrialEngine {
 public:
  virtual ~TrialEngine() = default;
  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  /// Why energy cannot be measured; empty if it can.
  [[nodiscard]] virtual std::string energy_unavailable() const = 0;
  /// Why launches cannot be captured into a graph; empty if they can.
  [[nodiscard]] virtual std::string graphs_unavailable() const = 0;
  /// Calls `doing` with what may take long, and with "" after it; from prepare() and run().
  virtual void tell_doing(std::function<void(const std::string&)> /*doing*/) {}
  /// Makes arguments and references for one problem and drops the earlier ones. A Failure ends the
  /// session (out of memory, a spec whose reference fails). Throws InputError and DeviceError for
  /// faults that a user must mend.
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
