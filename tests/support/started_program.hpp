// Programs that tests start beside themselves, found in PATH.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::test {

/// Starts a program; its stdout and stderr are appended to `log`. Returns its process.
pid_t start_program(const std::vector<std::string>& words, const std::filesystem::path& log);
/// Waits for its end. Returns its exit code; -1: a signal ended it.
int exit_code_of(pid_t program);
/// Sends a signal and waits for its end; 0 for `program` is nothing to do.
void end_program(pid_t& program, int signal);
/// The content of a file; empty if it cannot be read.
[[nodiscard]] std::string file_text(const std::filesystem::path& path);

}  // namespace kiln::test
