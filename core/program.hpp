// Programs of others that Kiln starts: commands of a user, compilers, sbatch, `kiln tune` for an
// application. (Kiln's own workers are started by tuner/workers/child_process.hpp.)
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace kiln {

struct Ended {
  int exit_code = -1;  ///< -1: ended by `signal`, or the caller's process reaps its children itself
  int signal = 0;
  std::string out;  ///< the end of its stdout
  std::string err;  ///< the same of stderr

  [[nodiscard]] bool is_ok() const { return exit_code == 0; }
  /// "exit code 3" or "signal 11 (Segmentation fault)".
  [[nodiscard]] std::string ending() const;
};

struct ProgramStart {
  std::vector<std::string> words;    ///< the first is found through PATH if it has no '/'
  std::filesystem::path folder;      ///< where it runs; empty: where the caller runs
  std::string input;                 ///< its stdin
  bool keeps_out = true;             ///< false: its stdout is /dev/null
  std::size_t kept_bytes = 4 << 20;  ///< of each output, of its end
};

/// A program from its start to its end. It inherits the environment, but no descriptor and no
/// handling of signals. Not for several threads.
class StartedProgram {
 public:
  StartedProgram() = default;
  /// Kills the program if it was not seen to end.
  ~StartedProgram();
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  /// Returns 0, or the errno with which the program cannot be started.
  [[nodiscard]] int start(const ProgramStart& start);
  /// Has it ended? Waits at most `pause` for it to print something or to end.
  [[nodiscard]] bool has_ended(std::chrono::milliseconds pause);
  /// Waits for its end, and until none of its children holds its outputs.
  void wait();
  void signal(int number) const;
  /// What is known so far; all of it once the program has ended.
  [[nodiscard]] const Ended& ended() const { return ended_; }

 private:
  bool read_outputs(int timeout_ms);
  bool reap(int options);

  pid_t process_ = 0;  ///< 0: none, or it was seen to end
  std::array<int, 2> outputs_ = {-1, -1};
  std::size_t kept_bytes_ = 0;
  Ended ended_;
};

/// Runs a program and waits for its end, and until none of its children holds its outputs. A
/// program that cannot be started ends with 127. Throws Error(internal) when the system has no
/// process or pipe for it.
[[nodiscard]] Ended run_program(const ProgramStart& start);

/// The same for a text for /bin/sh, in `folder`. A shell that says that its last program was killed
/// counts as killed.
[[nodiscard]] Ended run_shell(const std::string& text, const std::filesystem::path& folder);

/// The last lines of `text`, at most `count`, for messages.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t count);

}  // namespace kiln
