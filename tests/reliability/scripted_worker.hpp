// A worker that plays a script in place of a compiler and a device.
//
// The process, its messages, its deaths and the supervisor's deadlines are the real ones; only what
// a compiler and a device would do is read from the source ("#define SCRIPT hang 3", see
// kernels/scripted). Faults that a driver reports are classed by the driver's own error numbers.
// After a sticky fault the device fails whatever it is asked, as a poisoned context does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/device.hpp"
#include "tuner/device/worker.hpp"

namespace kiln {

/// The backend under which a test asks for the script: its dialect is used, its driver never
/// loaded.
inline constexpr const char* kScriptedBackend = "cuda";

/// When set, the workers of kScriptedBackend are real ones too: for tests on a GPU.
inline constexpr const char* kRealWorkersVariable = "KILN_REAL_WORKERS";

/// When set, the device worker logs to the file of this name, each line with nanoseconds of the
/// steady clock: "<deed> <number> <ns>" as a run begins, "fault <number> <ns>" before a fault is
/// reported, "ready 0 <ns>" when a worker is ready for its first run.
inline constexpr const char* kScriptLogVariable = "KILN_SCRIPT_LOG";

/// "prepare" or "finals": where the device worker is to hang.
inline constexpr const char* kScriptHangVariable = "KILN_SCRIPT_HANG";

/// When a file of this name exists the device is gone: every launch fails with the driver's error
/// for that, and a new worker finds no device, or, where the file says "crash", dies in the driver.
inline constexpr const char* kScriptUnpluggedVariable = "KILN_SCRIPT_UNPLUGGED";

/// The number of an innocent config, or "all", that is right on the problem that is tuned and wrong
/// on others.
inline constexpr const char* kScriptWrongElsewhereVariable = "KILN_SCRIPT_WRONG_ELSEWHERE";

/// Set: a proof takes two seconds, more than a run may.
inline constexpr const char* kScriptSlowProofsVariable = "KILN_SCRIPT_SLOW_PROOFS";

/// "COMPILE TRIAL": milliseconds that every source sleeps in the compiler and every config on the
/// device.
inline constexpr const char* kScriptPaceVariable = "KILN_SCRIPT_PACE";

/// Nanoseconds that a scripted run of an innocent config takes.
[[nodiscard]] double scripted_time_ns(std::int64_t number);

/// Joules of one such run, where they are asked for: least for the number 3.
[[nodiscard]] double scripted_energy_j(std::int64_t number);

[[nodiscard]] WorkerParts scripted_parts();

/// real_parts() whose device worker logs too: the deed is "run", the number a hash of the config.
[[nodiscard]] WorkerParts logged_real_parts();

}  // namespace kiln
