// CUDA sources to cubins for one exact architecture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/backend.hpp"

namespace kiln {

/// A compiler for "sm_80", "sm_90a" ... Throws DeviceError when NVRTC is missing or does not know
/// it.
[[nodiscard]] std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture);

/// What every source is compiled with, as far as it decides what comes out.
[[nodiscard]] std::string nvrtc_options();

/// "nvrtc 13.0", or "nvrtc unavailable".
[[nodiscard]] std::string nvrtc_version_text();

}  // namespace kiln
