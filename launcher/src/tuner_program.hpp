// TunerProgram: the `kiln` program, run to tune one problem in a process of its own.
//
// The library has no tuner inside: whatever happens to that process, the application goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

/// The program, or why there is none.
struct TunerProgram {
  std::filesystem::path path;
  std::string missing;  ///< empty: the program is there
};

/// `named`: a path, or a name to look for in $PATH; empty: bin/kiln of the prefix that this library
/// lies in, else `kiln` in $PATH.
[[nodiscard]] TunerProgram find_tuner(const std::string& named);

/// How a run of the program ended.
struct TunerEnd {
  enum class How {
    exited,      ///< exit_code tells; -1 where the application reaps children itself
    too_late,    ///< it did not end within its limit and was killed
    stopped,     ///< the caller wanted it to end
    not_started  ///< `said` tells why
  };
  How how = How::not_started;
  int exit_code = -1;
  std::string said;  ///< the end of what it wrote to stderr
};

/// Runs `program` with `arguments`, its stdin and stdout nowhere, and waits. After `limit`, or once
/// `stop` says so (asked every few hundredths of a second), it is asked to end, and killed when it
/// does not. It inherits the environment and no open file.
[[nodiscard]] TunerEnd run_tuner(const std::filesystem::path& program,
                                 const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit,
                                 const std::function<bool()>& stop);

}  // namespace kiln
