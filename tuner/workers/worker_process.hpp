// WorkerProcess: the supervisor's view of one worker: frames in and out, a deadline, and the reason
// of its death.
//
// All calls from the supervisor's one thread. Nothing blocks except the destructor (it waits for a
// killed child) and poll_workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/workers/child_process.hpp"
#include "tuner/workers/protocol.hpp"

namespace kiln {

using Clock = std::chrono::steady_clock;

class WorkerProcess {
 public:
  explicit WorkerProcess(const ChildCommand& command) : child_(command) {}

  /// Queues a frame, which is sent as the socket accepts it.
  void send(const Frame& frame);
  /// Returns the next received frame.
  [[nodiscard]] std::optional<Frame> receive();
  /// Returns whether receive() would return a frame.
  [[nodiscard]] bool has_frame() const { return !received_.empty(); }

  /// Returns false once the socket closed, the worker sent garbage, or it was killed.
  [[nodiscard]] bool alive() const { return alive_; }
  void kill();
  /// Returns why it is not alive, with the last lines that it printed: "the worker died: signal
  /// SIGSEGV; it printed: ...".
  [[nodiscard]] std::string obituary();
  /// Returns the last lines that it printed.
  [[nodiscard]] std::string last_words() const;

  /// poll_workers() returns when the deadline has passed. The caller decides what happens then.
  void set_deadline(std::optional<Clock::time_point> deadline) { deadline_ = deadline; }
  [[nodiscard]] std::optional<Clock::time_point> deadline() const { return deadline_; }
  /// Returns true if the deadline has passed and no message of the worker is left to read. If this
  /// process stood still for long, the answer may have been waiting.
  [[nodiscard]] bool overdue();

 private:
  friend void poll_workers(std::span<WorkerProcess* const> workers, Clock::time_point until);
  void write_some();
  void read_some();
  void read_output();

  ChildProcess child_;
  FrameReader reader_;
  std::deque<std::vector<std::byte>> unsent_;
  std::size_t sent_of_first_ = 0;
  std::deque<Frame> received_;
  std::string output_;         ///< the end of its output
  bool output_ended_ = false;  ///< it closed its output
  bool alive_ = true;
  std::optional<Clock::time_point> deadline_;
};

/// Moves bytes until a frame arrived, a worker ended, a deadline passed, a signal came, or `until`.
void poll_workers(std::span<WorkerProcess* const> workers, Clock::time_point until);

}  // namespace kiln
