// The compiler and the engine for [command]: a program is built, run, and reports its own time.
//
// A build has a folder of its own below $KILN_BUILDS, which the supervisor removes at the end; the
// "binary" is the path of that folder. Programs run in the worker's process group, so that a
// worker that is killed at its deadline takes them along.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"
#include "tuner/device/trial_engine.hpp"

namespace kiln {

/// Runs each line of the source's text as a build (render_command() writes it).
[[nodiscard]] std::unique_ptr<Compiler> make_command_compiler();

/// Runs programs. The plan's first step is the run, its second one, if any, the check.
[[nodiscard]] std::unique_ptr<TrialEngine> make_command_engine();

}  // namespace kiln
