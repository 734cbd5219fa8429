// SPDX-License-Identifier: Apache-2.0
#include "core/version.hpp"

namespace kiln {

const char* const kVersion = KILN_VERSION;

}  // namespace kiln
