// MissTuner: tunes problems whose match is not exact, one after the other, within a time budget.
// The `kiln` program does the tuning. Enabled by Options::tune_on_miss; never by default.
//
// It has one thread, which starts with the first such problem. The thread never touches the
// launcher's device, since the application may be capturing a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <kiln/launcher.hpp>

#include "core/device.hpp"
#include "db/store.hpp"
#include "launcher/src/tuner_program.hpp"

namespace kiln {

/// The timing of the rows that come first.
[[nodiscard]] inline Timing timing_of(const Launcher::Options& options) {
  return options.timing == Launcher::Timing::graph ? Timing::graph : Timing::eager;
}

/// A problem to tune.
struct Miss {
  std::string kernel;      ///< the kernel, as the application names it
  std::string spec_name;   ///< the kernel, as databases name it
  std::string problem;     ///< Problem::text()
  std::string asked_text;  ///< as the application writes the problem
};

class MissTuner {
 public:
  /// Called by the tuner's thread for each tuned problem, in this order.
  struct Listener {
    /// Makes `best` visible to lookups.
    std::function<void(const Miss& miss, const BestRecord& best)> add_best;
    /// Drops earlier results for the texts by which the application requested the problem.
    std::function<void(const Miss& miss, const std::set<std::string>& asked_texts)> forget;
  };
  enum class Selection {
    free,
    pinned,  ///< a lock pins the selection: nothing is tuned
  };

  MissTuner(const Launcher::Options& options, const DeviceInfo& device, Selection selection,
            Listener listener);
  /// Ends the running session, if any. The session goes on when the problem is requested again.
  ~MissTuner();
  MissTuner(const MissTuner&) = delete;
  MissTuner& operator=(const MissTuner&) = delete;

  /// Tunes the problem, unless that was tried before. With TuneOnMiss::first_use it waits for the
  /// session, at most a little longer than one session may take. Returns true if there is a new
  /// best: make the lookup again.
  bool want(const Miss& miss);

  [[nodiscard]] Launcher::Tuning state() const;
  /// Waits until no problem is left to tune. Returns false after `seconds`.
  bool wait(double seconds) const;

 private:
  struct Job {
    Miss miss;
    std::set<std::string> asked_texts;
    enum class State { waiting, tuned, failed } state = State::waiting;
    std::chrono::steady_clock::time_point wanted_until;  ///< calls wait no longer for it
  };
  using Held = std::unique_lock<std::mutex>;

  /// Nullptr: it cannot be tuned, and a warning says why.
  [[nodiscard]] Job* job_of(const Miss& miss);
  /// False, with a warning: the system has none left.
  [[nodiscard]] bool start_thread();
  void work();
  [[nodiscard]] bool tune(Job& job, double seconds);
  [[nodiscard]] TunerEnd run_session(const Miss& miss, double seconds) const;
  [[nodiscard]] std::optional<BestRecord> stored_best(const Miss& miss) const;
  void warn_of_budget();
  void warn(Launcher::Warning::Kind kind, std::string message);
  [[nodiscard]] bool stopping() const;

  const Launcher::Options options_;
  const DeviceInfo device_;
  const std::filesystem::path database_;
  const Listener listener_;
  std::filesystem::path program_;
  bool enabled_ = false;

  mutable std::mutex mutex_;  ///< guards everything below
  mutable std::condition_variable changed_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Job>> jobs_;  ///< only grows
  std::deque<Job*> queue_;  ///< the first job is being tuned
  Launcher::Tuning state_;
  bool warned_of_budget_ = false;
  bool warned_of_thread_ = false;
  bool stop_ = false;
  std::jthread thread_;
};

}  // namespace kiln
