// CallStatistics: counts selections and launches of a launcher by grade. Opt-in.
//
// Counting takes no lock: a counter belongs to a kernel, a problem and a config, is found once, and
// is then only added to. The counts of a process are written when it ends; that a call is not
// exact, at its first call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/device.hpp"
#include "lookup/call_records.hpp"

namespace kiln {

/// The calls of one kernel, problem and config.
struct CallCounter {
  CallRecord what;  ///< with counts of 0
  Launcher::Grade grade = Launcher::Grade::fallback;
  std::atomic<std::uint64_t> selections{0};
  std::atomic<std::uint64_t> launches{0};

  void count_selection() { selections.fetch_add(1, std::memory_order_relaxed); }
  void count_launch() { launches.fetch_add(1, std::memory_order_relaxed); }
};

class CallStatistics {
 public:
  /// `option`: as Launcher::Options::statistics. Returns null if nothing shall be counted. The
  /// result stays alive until the process ends, which writes its counts.
  [[nodiscard]] static std::shared_ptr<CallStatistics> make(const std::string& option,
                                                            const DeviceInfo& device);

  /// Returns the counter, which lives as long as the object. Any thread may call it.
  [[nodiscard]] CallCounter* counter(const std::string& kernel, const std::string& problem,
                                     const Launcher::Match& match);
  [[nodiscard]] Launcher::Statistics totals() const;
  /// The counts as they are now; without those that were never called.
  [[nodiscard]] std::vector<CallRecord> records() const;
  /// Why the file cannot be written; empty if it can.
  [[nodiscard]] std::string trouble() const { return file_.empty() ? "" : calls_trouble(file_); }
  /// Empty: a line on stderr.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// The process that made it.
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  CallStatistics(std::string file, std::string device)
      : file_(std::move(file)), device_(std::move(device)) {}

  const std::string file_;
  const std::string device_;
  const pid_t process_ = ::getpid();
  mutable std::mutex mutex_;  ///< guards the list, not the counts
  /// By kernel, problem, config and grade; a counter keeps its place.
  std::map<std::tuple<std::string, std::string, std::string, Launcher::Grade>, CallCounter>
      counters_;
};

/// "kiln: 1204 launches and 12 selections of 3 problems; of the launches 1100 exact, 104 default".
[[nodiscard]] std::string statistics_line(const std::vector<CallRecord>& records);

}  // namespace kiln
