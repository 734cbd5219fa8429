// The loops of the worker kinds on their sockets. Private to the tuner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/device/worker.hpp"
#include "tuner/workers/protocol.hpp"

namespace kiln {

/// Answers CompileJobs. The compiler is opened with the first one.
void serve_compile_jobs(const WorkerOptions& options, const WorkerParts& parts,
                        BlockingChannel& channel);

/// Opens the device, says Opened, then answers ProblemJobs, TrialJobs and FinalsJobs. Returns after
/// a sticky failure, since the process is then unusable.
void serve_device_jobs(const WorkerOptions& options, const WorkerParts& parts,
                       BlockingChannel& channel);

/// Sends the DeviceList.
void serve_device_list(const WorkerOptions& options, BlockingChannel& channel);

/// Measures the device's ceilings and sends them (tuner/device/device_ceilings.hpp).
void serve_ceilings(const WorkerOptions& options, BlockingChannel& channel);

}  // namespace kiln
