// LeaseKeeper: renews the lease of a job in a thread of its own, while the session runs.
//
// A server that is away is asked again at the next renewal: the session goes on without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "db/fleet.hpp"

namespace kiln::cli {

class LeaseKeeper {
 public:
  /// Throws Error if no thread can be started. `warn` is called from the keeper's thread, once when
  /// the server goes away and once when it is back. All arguments must outlive the keeper.
  LeaseKeeper(Fleet& fleet, FleetLease lease, const FleetWorker& worker, double lease_seconds,
              std::function<void(const std::string&)> warn);
  /// Ends the thread; the lease stays as it is.
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Set when the session has to end: a signal came, or the lease was lost.
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  void note_trials(std::int64_t trials) { trials_ = trials; }
  /// With its newest epoch. Call it after end().
  [[nodiscard]] const FleetLease& lease() const { return lease_; }
  void end();

 private:
  void run();
  void renew();

  Fleet& fleet_;
  FleetLease lease_;
  const FleetWorker& worker_;
  double lease_seconds_;
  std::function<void(const std::string&)> warn_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_lost_ = false;
  std::atomic<std::int64_t> trials_ = 0;
  bool is_away_ = false;  ///< the server did not answer the last renewal
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::jthread thread_;
};

}  // namespace kiln::cli
