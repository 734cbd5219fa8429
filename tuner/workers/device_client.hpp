// DeviceClient: the supervisor's view of the device worker, with its deadlines and replacements.
//
// Opens the device, prepares the problem and runs one trial at a time. A worker that hangs is
// killed at its deadline. A worker that died or reported a sticky failure is replaced, and the
// problem is prepared again while the supervisor goes on. Used from the supervisor's thread;
// nothing blocks except open() and run_finals().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tuner/workers/messages.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {

/// The deadlines of a device worker. A worker that exceeds one is killed.
struct DeviceDeadlines {
  std::chrono::milliseconds open{60000};
  /// Arguments and references of one problem; tune() lowers it to the session's time and
  /// `past_budget`.
  std::chrono::milliseconds prepare{600000};
  double run_factor = 50;  ///< a run may take this many times the best known run ...
  std::chrono::milliseconds run_floor{2000};  ///< ... but at least this ...
  std::chrono::milliseconds run_cap{60000};   ///< ... and at most this; also while no best is known
  /// Deadline of a first run, its code generation included; absent: as for other runs, and
  /// `first_launch`.
  std::optional<std::chrono::milliseconds> first_run;
  /// A first run may go on for this long once the session's time is over or it was interrupted.
  /// Raise it for kernels that honestly take longer.
  std::chrono::milliseconds past_budget{10000};
  /// Added to the deadline of the first run if the first launch generates code (OpenCL). tune()
  /// sets it to the compilers' deadline.
  std::chrono::milliseconds first_launch{60000};
};

/// Returns the deadline of one run if the best known run takes `best_ns` (0: none is known).
[[nodiscard]] Clock::duration run_limit(const DeviceDeadlines& deadlines, double best_ns);

/// Returns the deadline of finals whose fewest rounds all take as long as they may, without the
/// time for readings of the energy. `longest_run_ns`: the slowest trial so far (0: none is known).
[[nodiscard]] Clock::duration finals_limit(const DeviceDeadlines& deadlines, double longest_run_ns,
                                           const FinalsJob& job);

class DeviceClient;
/// Throws DeviceError if runs shall be replayed from a graph and the open device cannot do that.
void require_timing(const MeasureOptions& options, const DeviceClient& device);

/// Events of a trial that may be its worker's end.
enum class AttemptEvent {
  begins,  ///< a worker is about to get it
  death,   ///< that worker died, and the trial gets another chance
};

class DeviceClient {
 public:
  /// `host` must outlive it. Starts the worker.
  DeviceClient(WorkerHost& host, std::string backend, int ordinal, DeviceDeadlines deadlines);

  /// Waits until the device is open. Throws TransientError with the reason.
  const DeviceInfo& open();

  /// Why the energy of the open device cannot be measured; empty if it can.
  [[nodiscard]] const std::string& energy_unavailable() const { return energy_unavailable_; }
  /// Why launches cannot be captured into a graph; empty if they can. Known after open().
  [[nodiscard]] const std::string& graphs_unavailable() const { return graphs_unavailable_; }

  /// Sets the problem of the following trials.
  void set_problem(ProblemJob job);
  /// Called with the running trial's attempts, before the client acts on them.
  void set_watch(std::function<void(AttemptEvent)> watch) { watch_ = std::move(watch); }

  enum class Chances {
    two,  ///< the second death of a worker counts against it
    one,  ///< a worker died over it in an earlier run of the session
  };
  /// Starts a trial; the client must be idle.
  void start(TrialJob job, Chances chances = Chances::two);
  /// Returns whether the problem is prepared and no trial is running.
  [[nodiscard]] bool idle() const { return state_ == State::idle; }
  [[nodiscard]] bool running() const { return trial_ != nullptr; }
  /// The session is about to end: from now on a first run has `past_budget` left. Returns true if
  /// this shortens the current trial for the first time.
  bool hurry();
  /// What the worker is doing that may take long, in words; may be empty.
  [[nodiscard]] const std::string& doing() const { return doing_; }
  /// Says how results are proved; empty until the problem is prepared.
  [[nodiscard]] const std::string& reference() const { return reference_; }

  /// Receives messages and returns the report of the running trial, if there is one. If the worker
  /// was replaced, the report waits for the new worker: a device that does not come back is not the
  /// config's fault. Throws Error if the problem cannot be prepared, DeviceGone if the device stays
  /// dead.
  [[nodiscard]] std::optional<TrialReport> step();

  /// From now on no report waits for a new worker: the session is about to end.
  void report_at_once() { waits_for_worker_ = false; }

  /// Runs the finals and waits for them; the client must be idle. nullopt: `stop` became true, and
  /// the worker was replaced.
  [[nodiscard]] std::optional<FinalsReport> run_finals(const FinalsJob& job,
                                                       const std::atomic<bool>* stop);

  [[nodiscard]] WorkerProcess* worker() { return worker_.get(); }

 private:
  enum class State { opening, preparing, idle, running };
  struct StartedTrial {
    TrialJob job;
    Chances chances = Chances::two;
    bool checked = false;           ///< whether the first check is over
    bool hurried = false;           ///< whether its first run is limited to `past_budget`
    Clock::duration first_check{};  ///< how long the first check took
  };

  void start_worker();
  void prepare();
  void send_trial();
  bool shorten_first_run();
  void handle(const Frame& frame, std::optional<TrialReport>& report);
  void handle_report(TrialReport arrived, std::optional<TrialReport>& report);
  void replace_overdue(std::optional<TrialReport>& report);
  void replace_dead(std::optional<TrialReport>& report);
  void count_failed_start(const std::string& reason);
  void set_limit(Clock::duration limit);
  /// What the worker was doing, behind `lead`; empty if it did not tell.
  [[nodiscard]] std::string doing_text(const std::string& lead) const;
  [[nodiscard]] TrialReport failed_trial(Outcome outcome, const std::string& message) const;

  WorkerHost& host_;
  std::string backend_;
  int ordinal_;
  DeviceDeadlines deadlines_;
  std::unique_ptr<WorkerProcess> worker_;
  State state_ = State::opening;
  std::optional<DeviceInfo> device_;
  std::string energy_unavailable_;
  std::string graphs_unavailable_;
  std::optional<ProblemJob> problem_;
  std::string reference_;
  std::string doing_;
  std::unique_ptr<StartedTrial> trial_;
  std::optional<TrialReport> held_;  ///< waits for a new worker
  bool waits_for_worker_ = true;
  std::optional<Clock::time_point> hurried_at_;
  std::function<void(AttemptEvent)> watch_;
  std::optional<FinalsReport> finals_;
  Clock::time_point sent_;   ///< when the current job, or its part after the check, began
  Clock::duration limit_{};  ///< deadline of that part
  Clock::duration longest_first_check_{};  ///< longest first check of an `ok` trial
  double longest_run_ns_ = 0;              ///< of an `ok` trial
  Clock::duration longest_check_{};        ///< longest sum of an `ok` trial's checks
  int failed_starts_ = 0;                  ///< consecutive
};

}  // namespace kiln
