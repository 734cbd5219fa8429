// One worker as the supervisor sees it: frames in and out, a deadline, and an obituary.
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

#include "tuner/child_process.hpp"
#include "tuner/protocol.hpp"

namespace kiln {

using Clock = std::chrono::steady_clock;

class WorkerProcess {
 public:
  explicit WorkerProcess(const ChildCommand& command) : child_(command) {}

  /// Queues a frame; it leaves as the socket takes it.
  void send(const Frame& frame);
  /// The next frame that has arrived.
  [[nodiscard]] std::optional<Frame> receive();
  /// receive() would give one.
  [[nodiscard]] bool has_frame() const { return !received_.empty(); }

  /// False once its socket closed, it sent garbage, or it was killed.
  [[nodiscard]] bool alive() const { return alive_; }
  void kill();
  /// Why it is not alive, with the last lines it printed: "the worker died: signal SIGSEGV; it
  /// printed: ...".
  [[nodiscard]] std::string obituary();
  /// The last lines that it printed.
  [[nodiscard]] std::string last_words() const;

  /// poll_workers returns when it has passed; what then happens is the caller's business.
  void set_deadline(std::optional<Clock::time_point> deadline) { deadline_ = deadline; }
  [[nodiscard]] std::optional<Clock::time_point> deadline() const { return deadline_; }
  /// True when the deadline has passed and nothing that the worker said is left to be received:
  /// where this process stood still for long, the answer has been waiting.
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
  std::string output_;  ///< the end of what it printed
  bool alive_ = true;
  std::optional<Clock::time_point> deadline_;
};

/// Moves bytes until a frame arrived, a worker ended, a deadline passed, a signal came, or `until`.
void poll_workers(std::span<WorkerProcess* const> workers, Clock::time_point until);

}  // namespace kiln
