// The list of backends: a new one is one line here (docs/add_a_backend.md).
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/backend.hpp"
#include "backends/cuda/cuda_backend.hpp"
#include "backends/hip/hip_backend.hpp"
#include "backends/opencl/opencl_backend.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 3> kBackendNames = {"cuda", "hip", "opencl"};

}  // namespace

std::span<const std::string_view> backend_names() { return kBackendNames; }

std::unique_ptr<Backend> make_backend(std::string_view name) {
  if (name == "cuda") return make_cuda_backend();
  if (name == "hip") return make_hip_backend();
  if (name == "opencl") return make_opencl_backend();
  throw UsageError(fmt::format("unknown backend '{}': expected one of {}", name,
                               fmt::join(kBackendNames, ", ")));
}

}  // namespace kiln
