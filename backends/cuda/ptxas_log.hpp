// What ptxas says about registers, spills and shared memory (--ptxas-options=-v).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/artifact.hpp"

namespace kiln {

/// Sets the resources of `binary` to the largest over all kernels in `log`; they stay -1 where it
/// has none.
void read_ptxas_resources(std::string_view log, Binary& binary);

/// The kernels that ptxas compiled, by name.
[[nodiscard]] std::vector<std::string> ptxas_entries(std::string_view log);

}  // namespace kiln
