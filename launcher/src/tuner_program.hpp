// TunerProgram: the `kiln` program, which tunes one problem in a separate process.
//
// The library contains no tuner. Whatever happens to that process, the application goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

/// The program, or the reason why there is none.
struct TunerProgram {
  std::filesystem::path path;
  std::string missing;  ///< why there is no program; empty: there is one
};

/// Finds the program. `named`: a path, or a name to search in $PATH. If it is empty: bin/kiln of
/// this library's prefix, else `kiln` in $PATH.
[[nodiscard]] TunerProgram find_tuner(const std::string& named);

/// How a run of the program ended.
struct TunerEnd {
  enum class How {
    exited,      ///< see exit_code; -1 if the application reaps its children itself
    too_late,    ///< it did not end within its limit and was killed
    stopped,     ///< `stop` returned true
    not_started  ///< see `said`
  };
  How how = How::not_started;
  int exit_code = -1;
  std::string said;  ///< the end of its stderr
};

/// Runs `program` with `arguments` and waits. Its stdin and stdout are /dev/null. After `limit`, or
/// once `stop` returns true (called every few hundredths of a second), the program is asked to end,
/// and killed if it does not. It inherits the environment and no open file.
[[nodiscard]] TunerEnd run_tuner(const std::filesystem::path& program,
                                 const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit,
                                 const std::function<bool()>& stop);

}  // namespace kiln
