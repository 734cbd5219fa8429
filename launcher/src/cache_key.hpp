// Under which key a kernel's binary is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kiln/launcher.hpp>

#include "core/artifact.hpp"
#include "core/device.hpp"

namespace kiln {

/// Source, its options and Kiln's own (`compiler_options`: of the device's backend), backend and
/// architecture; for OpenCL the driver too, whose own format its binaries have. The compiler is in
/// it only when `toolkit` is Toolkit::same: an entry is then found on a machine without a compiler
/// as little as it is made there.
[[nodiscard]] std::string cache_key(const Source& source, const DeviceInfo& device,
                                    const std::string& compiler_options, Launcher::Toolkit toolkit);

}  // namespace kiln
