// ChildProcess: a program of ours, started by exec, with one socket and captured output. All POSIX
// calls are here.
//
// The child gets its own process group (Ctrl-C does not reach it), leaves no core files, inherits
// only its own descriptors. The operating system kills it when the thread that started it ends, so
// no orphan outlives the supervisor.
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

/// Owns a file descriptor and closes it.
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
  std::string program;                             ///< path; not searched in $PATH
  std::vector<std::string> arguments;              ///< without the program's name
  std::map<std::string, std::string> environment;  ///< added to this process's own environment
  std::uint64_t memory_bytes = 0;  ///< limit of its heap and private mappings; 0: no limit
};

class ChildProcess {
 public:
  /// Starts the child. Throws Error(internal), which names the failed system call. If the program
  /// cannot be executed, the child exits with 127 and prints the reason.
  explicit ChildProcess(const ChildCommand& command);
  /// Kills the process group and waits for the child.
  ~ChildProcess();
  ChildProcess(ChildProcess&&) = delete;

  [[nodiscard]] int socket() const { return socket_.get(); }  ///< non-blocking
  /// Its stdout and stderr; non-blocking.
  [[nodiscard]] int output() const { return output_.get(); }
  /// SIGKILL to the whole group. Safe to repeat.
  void kill();
  /// Waits for the end and returns it in words: "exit code 3", "signal SIGSEGV". The child must be
  /// ending: its socket closed, or killed. If a killed child does not end (a driver call that never
  /// returns), it is left to the system after a while: "no end though it was killed".
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
