// The version of this Kiln; stored with every session. CMakeLists.txt says it once, in project().
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

/// "0.2.0".
extern const char* const kVersion;

}  // namespace kiln
