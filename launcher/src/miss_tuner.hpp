// MissTuner: problems whose match is not exact, tuned one after the other by the `kiln` program
// within a budget of time. Options::tune_on_miss; never by default.
//
// One thread of its own, started with the first such problem. It never touches the device of the
// launcher: an application may be capturing a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A problem to tune.
struct Miss {
  std::string kernel;      ///< as the application names it
  std::string spec_name;   ///< as databases name it
  std::string problem;     ///< Problem::text()
  std::string asked_text;  ///< as the application writes the problem
};

class MissTuner {
 public:
  /// What is done with a problem that was tuned, by the tuner's thread, in this order.
  struct Listener {
    /// From now on lookups shall see `best`.
    std::function<void(const Miss& miss, const BestRecord& best)> add_best;
    /// What was found before for the texts by which the application asked for it is out of date.
    std::function<void(const Miss& miss, const std::set<std::string>& asked_texts)> forget;
  };
  enum class Selection {
    free,
    pinned,  ///< a lock decides what is chosen: nothing is tuned
  };

  MissTuner(const Launcher::Options& options, const DeviceInfo& device, Selection selection,
            Listener listener);
  /// Ends the session that runs, if any: it goes on when the problem is asked for again.
  ~MissTuner();
  MissTuner(const MissTuner&) = delete;
  MissTuner& operator=(const MissTuner&) = delete;

  /// Tunes the problem unless that was tried before. With TuneOnMiss::first_use it waits for the
  /// end of it, but not much longer than one session may take. True: there is a new best, look
  /// again.
  bool want(const Miss& miss);

  [[nodiscard]] Launcher::Tuning state() const;
  /// Waits until no problem waits; false: `seconds` went by before.
  bool wait(double seconds) const;

 private:
  struct Job {
    Miss miss;
    std::set<std::string> asked_texts;
    enum class State { waiting, tuned, failed } state = State::waiting;
  };
  using Held = std::unique_lock<std::mutex>;

  [[nodiscard]] Job* job_of(const Miss& miss);
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

  mutable std::mutex mutex_;  ///< over everything below
  mutable std::condition_variable changed_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Job>> jobs_;  ///< only grows
  std::deque<Job*> queue_;  ///< the first is being tuned
  Launcher::Tuning state_;
  bool warned_of_budget_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace kiln
