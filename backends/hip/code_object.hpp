// What an AMD code object says about its kernels: registers, spills and shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/artifact.hpp"

namespace kiln {

/// Reads the metadata note of `binary.data` and sets the resources of `binary` to the largest over
/// all kernels. Returns the kernels' names; nothing is changed and the list is empty when there is
/// no readable note.
std::vector<std::string> read_code_object(Binary& binary);

}  // namespace kiln
