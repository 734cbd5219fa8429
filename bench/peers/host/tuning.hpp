// Tuning a problem before it is compared: one session of the program `kiln`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/peers/host/options.hpp"

namespace kiln::peers {

/// `kiln tune KERNEL --problem ...` as a list of words; the first is the program.
[[nodiscard]] std::vector<std::string> tune_command(const Options& options,
                                                    const std::string& kernel,
                                                    const std::string& problem);

/// Runs one session on cuda:0 and waits for it; its progress goes to stderr. Throws
/// std::runtime_error when the session cannot be started or ends with an error.
void tune(const Options& options, const std::string& kernel, const std::string& problem);

}  // namespace kiln::peers
