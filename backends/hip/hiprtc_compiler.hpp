// HIP sources to code objects for one exact architecture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/backend.hpp"

namespace kiln {

/// A compiler for "gfx90a" ... Throws DeviceError when hipRTC is missing or does not know the
/// architecture. hipRTC is not safe for threads: use one compiler in a process at a time.
[[nodiscard]] std::unique_ptr<Compiler> make_hiprtc_compiler(const std::string& architecture);

/// What every source is compiled with, as far as it decides what comes out.
[[nodiscard]] std::string hiprtc_options();

/// "hiprtc 5.2.21153", or "hiprtc unavailable".
[[nodiscard]] std::string hiprtc_version_text();

}  // namespace kiln
