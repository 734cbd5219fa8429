// The CUDA backend: driver API and NVRTC.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace kiln {

[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend();

}  // namespace kiln
