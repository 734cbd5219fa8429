// Starts threads. Where the system has none left, it says so like any other trouble.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "core/errors.hpp"

namespace kiln {

/// Returns a thread that runs `work` and is joined by its destructor. Throws Error if the system
/// starts none, for example at a limit of the number of processes.
template <typename Work>
[[nodiscard]] std::jthread started_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw Error(ExitCode::failed, "the system starts no further thread (" + error.code().message() +
                                      "); `ulimit -u` shows the limit of this user");
  }
}

}  // namespace kiln
