// Which AMD GPU the CPU poses as.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace kiln::hip_on_cpu {

/// KILN_HIP_ON_CPU, an architecture that core/device.hpp has limits of; gfx90a without it.
inline std::string architecture() {
  const char* named = std::getenv("KILN_HIP_ON_CPU");
  return named == nullptr ? "gfx90a" : named;
}

}  // namespace kiln::hip_on_cpu
