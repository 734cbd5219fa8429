// The key of a kernel's binary in the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kiln/launcher.hpp>

#include "core/artifact.hpp"
#include "core/device.hpp"

namespace kiln {

/// Returns the key of a binary: source, its options, Kiln's own options (`compiler_options` of the
/// device's backend), backend and architecture. For OpenCL it includes the driver, since binaries
/// are in the driver's own format. The compiler is part of the key only if `toolkit` is
/// Toolkit::same; then a machine without a compiler finds no entry.
[[nodiscard]] std::string cache_key(const Source& source, const DeviceInfo& device,
                                    const std::string& compiler_options, Launcher::Toolkit toolkit);

}  // namespace kiln
