// DeviceClient: the device worker as the supervisor sees it, with its deadlines and its
// replacements.
//
// Opens the device, prepares the problem, runs one trial at a time. A worker that hangs is killed
// at its deadline; one that died or reported a sticky failure is replaced, and the problem is
// prepared again while the supervisor goes on. Used from the supervisor's thread; nothing blocks
// except open() and run_finals().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tuner/messages.hpp"
#include "tuner/worker_host.hpp"
#include "tuner/worker_process.hpp"

namespace kiln {

/// How long the parts of a device worker's life may take; what takes longer is killed.
struct DeviceDeadlines {
  std::chrono::milliseconds open{60000};
  std::chrono::milliseconds prepare{600000};  ///< arguments and references of one problem
  double run_factor = 50;  ///< a run may take this many times the best one known ...
  std::chrono::milliseconds run_floor{2000};  ///< ... but at least this ...
  std::chrono::milliseconds run_cap{60000};   ///< ... and at most this; also while none is known
  /// A first run that the session ends on may go on for this long: when its time is over, or it was
  /// interrupted. Raise it for kernels that honestly take longer.
  std::chrono::milliseconds past_budget{10000};
  /// On top of the first run where the first launch generates code (OpenCL): tune() sets the
  /// compilers' deadline.
  std::chrono::milliseconds first_launch{60000};
};

/// How long one run may take when the best known one takes `best_ns` (0: none is known).
[[nodiscard]] Clock::duration run_limit(const DeviceDeadlines& deadlines, double best_ns);

/// What a trial goes through that may be its worker's end.
enum class AttemptEvent {
  begins,  ///< it is about to be given to a worker
  death,   ///< that worker died over it, and it is given another chance
};

class DeviceClient {
 public:
  /// `host` must outlive it. Starts the worker.
  DeviceClient(WorkerHost& host, std::string backend, int ordinal, DeviceDeadlines deadlines);

  /// Waits until the device is open. Throws TransientError with the reason.
  const DeviceInfo& open();

  /// Why the open device's energy cannot be measured; empty: it can.
  [[nodiscard]] const std::string& energy_unavailable() const { return energy_unavailable_; }

  /// From now on trials belong to this problem.
  void set_problem(ProblemJob job);
  /// Told of the running trial's attempts, before anything is done about them.
  void set_watch(std::function<void(AttemptEvent)> watch) { watch_ = std::move(watch); }

  enum class Chances {
    two,  ///< a worker's death is held against it the second time
    one,  ///< a worker died over it in an earlier run of the session
  };
  /// Starts a trial; the client must be idle.
  void start(TrialJob job, Chances chances = Chances::two);
  /// Prepared, and nothing is running.
  [[nodiscard]] bool idle() const { return state_ == State::idle; }
  [[nodiscard]] bool running() const { return trial_ != nullptr; }
  /// The session is about to end: from now on a first run has `past_budget` left. True when that is
  /// news to the trial at hand.
  bool hurry();
  /// How results are proved; empty until the problem is prepared.
  [[nodiscard]] const std::string& reference() const { return reference_; }

  /// Takes what arrived; gives the report of the running trial when there is one. A report whose
  /// worker was replaced waits for the new one: a device that does not come back is no fault of the
  /// config. Throws Error when the problem cannot be prepared, DeviceGone when the device stays
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
  struct Trial {
    TrialJob job;
    Chances chances = Chances::two;
    bool checked = false;           ///< past its first check
    bool hurried = false;           ///< its first run has `past_budget`
    Clock::duration first_check{};  ///< what that took
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
  [[nodiscard]] TrialReport failed_trial(Outcome outcome, const std::string& message) const;

  WorkerHost& host_;
  std::string backend_;
  int ordinal_;
  DeviceDeadlines deadlines_;
  std::unique_ptr<WorkerProcess> worker_;
  State state_ = State::opening;
  std::optional<DeviceInfo> device_;
  std::string energy_unavailable_;
  std::optional<ProblemJob> problem_;
  std::string reference_;
  std::unique_ptr<Trial> trial_;
  std::optional<TrialReport> held_;  ///< waits for a new worker
  bool waits_for_worker_ = true;
  std::optional<Clock::time_point> hurried_at_;
  std::function<void(AttemptEvent)> watch_;
  std::optional<FinalsReport> finals_;
  Clock::time_point sent_;   ///< when the job at hand, or its part after the check, began
  Clock::duration limit_{};  ///< how long that may take
  Clock::duration longest_first_check_{};  ///< what the first check of a good trial took, at most
  Clock::duration longest_check_{};        ///< likewise, all of its checks
  int failed_starts_ = 0;                  ///< in a row
};

}  // namespace kiln
