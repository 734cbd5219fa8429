// A program of ours started by exec, with one socket to it and its output captured. POSIX lives
// here.
//
// The child gets its own process group (Ctrl-C does not reach it), leaves no core files, inherits
// no descriptor but its own, and is killed by the kernel when the thread that started it ends: no
// orphan outlives the supervisor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The socket is this descriptor in the child.
inline constexpr int kWorkerSocket = 3;

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : value_(other.value_) { other.value_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const { return value_; }
  void reset();

 private:
  int value_ = -1;
};

struct ChildCommand {
  std::string program;                             ///< path; found through no search
  std::vector<std::string> arguments;              ///< without the program's name
  std::map<std::string, std::string> environment;  ///< set on top of this process's own
  std::uint64_t memory_bytes = 0;  ///< heap and private mappings that it may have; 0: no limit
};

class ChildProcess {
 public:
  /// Starts it. Throws Error(internal) naming the system call that failed; a program that cannot be
  /// executed shows as a child that exits with 127 and says so on its output.
  explicit ChildProcess(const ChildCommand& command);
  /// Kills the process group and waits for the child.
  ~ChildProcess();
  ChildProcess(ChildProcess&&) = delete;

  [[nodiscard]] int socket() const { return socket_.get(); }  ///< non-blocking
  [[nodiscard]] int output() const {
    return output_.get();
  }  ///< its stdout and stderr; non-blocking
  /// SIGKILL to the whole group. Safe to repeat.
  void kill();
  /// Waits for the end: "exit code 3", "signal SIGSEGV". The child must be ending (its socket
  /// closed, or killed). One that does not end though killed (a driver call that never returns) is
  /// left to the system after a while: "no end though it was killed".
  [[nodiscard]] std::string wait();

 private:
  [[nodiscard]] std::optional<int> reap_within(std::chrono::milliseconds patience) const;

  pid_t pid_ = -1;
  bool reaped_ = false;
  std::string ending_;
  Descriptor socket_;
  Descriptor output_;
};

}  // namespace kiln
