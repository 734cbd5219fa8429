// JSON on stdout: what --json prints, the only thing on stdout then.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json.hpp"

namespace kiln::cli {

/// Indented, ended with a newline. Bytes of compiler messages that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_output(const Json& json);

}  // namespace kiln::cli
