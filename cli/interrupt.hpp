// SIGINT, SIGTERM and SIGHUP: end after the trial in hand, keep everything, say how to go on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "core/errors.hpp"

namespace kiln::cli {

/// Installs the handlers (once) and returns the flag that they set. A second signal ends the
/// process at once.
[[nodiscard]] const std::atomic<bool>& stop_on_signals();

[[nodiscard]] bool was_interrupted();

/// Makes a write to a closed pipe, or beyond the limit of a file's size, an error. Otherwise a
/// signal would end the process and leave an open session and a scratch folder.
void ignore_failed_writes();

/// $KILN_PARENT names the process that started this one: its end is a SIGTERM for this one.
void end_with_parent();

/// 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP.
[[nodiscard]] ExitCode interrupted_exit_code();

/// Tells the user on stderr that `what` ("session 3") was interrupted and how to go on; `fresh`:
/// the command line had --fresh, which would start anew.
void print_interrupted(const std::string& what, bool fresh);

}  // namespace kiln::cli
