// Consent to the code of a spec that runs on the host: the lines of [command] and the C function of
// [verify]. A folder may come from a stranger; nothing of it runs unasked.
//
// Kernels that come with Kiln, those below --kernel-path, and folders whose spec `kiln init` wrote
// here need no consent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/command.hpp"
#include "core/spec.hpp"

namespace kiln::cli {

void add_trust_option(CLI::App& command, CommonOptions& options);

/// Returns if the code of `spec` may run. In a terminal it shows what would run and asks, once for
/// the same content of the folder. Throws UsageError if the answer is no, or if nobody can be asked
/// and --trust is not given.
void require_trust(const KernelSpec& spec, const CommonOptions& options);

/// Notes that the spec in `folder` is the user's own.
void trust_folder(const std::filesystem::path& folder);

}  // namespace kiln::cli
