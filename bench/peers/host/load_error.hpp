// load_error(): why a library that is opened at run time is missing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/errors.hpp"

namespace kiln::peers {

/// `open` opens the library at its first call. Returns the message of the DeviceError that it
/// throws if the library is missing; empty if it is there.
template <typename Open>
[[nodiscard]] std::string load_error(const Open& open) {
  try {
    static_cast<void>(open());
    return "";
  } catch (const DeviceError& error) {
    return error.what();
  }
}

}  // namespace kiln::peers
