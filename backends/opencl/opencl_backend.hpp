// The OpenCL backend: PoCL on the CPU, and GPUs through their vendors' drivers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace kiln {

[[nodiscard]] std::unique_ptr<Backend> make_opencl_backend();

}  // namespace kiln
