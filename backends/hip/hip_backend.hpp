// The HIP backend: HIP runtime and hipRTC.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace kiln {

[[nodiscard]] std::unique_ptr<Backend> make_hip_backend();

}  // namespace kiln
