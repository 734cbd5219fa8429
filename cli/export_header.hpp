// The C++ header that `kiln export --header` writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/winners.hpp"

namespace kiln::cli {

/// A C++17 header without dependencies: for each of `winners`, all of one kernel, the problem's
/// sizes, the source, and the steps with their geometry; and a function that gives the one for
/// given sizes. Throws InputError for a problem that is given twice.
[[nodiscard]] std::string dispatch_header(std::span<const Winner> winners,
                                          const DeviceInfo& device);

}  // namespace kiln::cli
