// Dealer: hands the sessions of a sweep to the devices of one class, one at a time: to one device
// in their order, to several the longest first. Devices of a class are equal for the database: what
// one has tuned, none tunes again.
//
// A device that goes away returns its session. A session that a device has begun goes to that
// device while it is there: equal cards differ by several percent, so one session's trials all come
// from one card. If the card stays away, another one begins the session anew.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

/// Any thread may call it.
class Dealer {
 public:
  struct Session {
    std::string key;     ///< sessions with equal keys never run at the same time
    double seconds = 0;  ///< it may last; infinite without a limit
    double work = 0;     ///< decides between equal seconds, in any unit
    std::optional<std::size_t> begun_by = {};  ///< index of the device that an earlier run used
  };
  /// `sessions` in the plan's order, which decides between equal lengths.
  Dealer(std::vector<Session> sessions, std::size_t devices);

  /// Waits until there is a session for this device, and returns its index. nullopt: all sessions
  /// are done, or stop() was called. A session that another device holds may come back, so a device
  /// waits for it.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t device);

  /// The device has finished its session, in whatever way.
  void done(std::size_t device);

  enum class Begun { no, yes };
  /// The device went away and may come back. `begun`: it has stored a part of the session.
  void give_back(std::size_t device, Begun begun);
  /// Waits for a device that went away. Returns early, and false, if nothing is left to do.
  [[nodiscard]] bool pause(std::size_t device, std::chrono::milliseconds pause);
  /// The device does not come back.
  void leave(std::size_t device);

  /// Ends all waiting; no more sessions are handed out.
  void stop();
  /// Returns how many sessions are not done.
  [[nodiscard]] std::size_t left() const;

 private:
  enum class State { open, dealt, done };
  enum class Place { here, away, gone };
  struct Item {
    Session session;
    State state = State::open;
  };

  [[nodiscard]] std::optional<std::size_t> choose(std::size_t device) const;
  [[nodiscard]] bool is_running(const std::string& key) const;
  [[nodiscard]] bool is_over() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;
  std::vector<std::size_t> order_;                ///< indices of items_, the longest first
  std::vector<Place> places_;                     ///< of the devices
  std::vector<std::optional<std::size_t>> held_;  ///< by device: the session it runs
  bool stopped_ = false;
};

}  // namespace kiln::cli
