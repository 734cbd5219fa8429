// One session: search the space of one kernel on one problem and one device until the budget is
// used, then publish.
//
// Every trial is stored as it finishes; a session that was killed goes on where it stopped when the
// same request is made again. docs/sessions.md and docs/measurement.md have the rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/spec.hpp"
#include "core/trial.hpp"
#include "db/store.hpp"
#include "lookup/warm_start.hpp"
#include "search/budget.hpp"
#include "tuner/rules/drift.hpp"
#include "tuner/rules/measure_options.hpp"
#include "tuner/workers/compile_slots.hpp"
#include "tuner/workers/device_client.hpp"

namespace kiln {

/// The options of a session; the request says what is tuned.
struct TuneOptions {
  // What is searched.
  std::string strategy;               ///< empty: the default one (search/strategy.hpp lists them)
  std::uint64_t seed = 1;             ///< of the strategy and of the inputs
  std::vector<std::string> variants;  ///< only these; empty: all that are possible
  Budget budget;
  /// After the default config, start from at most this many configs that were best on similar
  /// problems and devices, from the store and the shipped bests. Set 0 if sessions must not know of
  /// each other. A large number, with a budget of few more trials, tries only known configs.
  std::size_t warm_configs = kWarmConfigs;

  /// A vendor's library whose own call runs in turn with the best ("cublas", of matmul); empty:
  /// none. The evidence of the best then says how the two compare.
  std::string against;

  std::string objective = "time";  ///< "time", "energy" or a metric of the spec

  // How it is measured.
  MeasureOptions measure;  ///< the objective decides about `race` and `energy`
  FinalsOptions finals;
  DriftOptions drift;
  /// Above this length the spec's device reference replaces the CPU loop. Raise it to trust only
  /// the loop.
  double max_cpu_operations = 3e7;
  /// Operations of the CPU loop on each of the other sizes of the checks: about a millisecond.
  /// Lower it if preparing a problem takes too long; 0: no other sizes.
  double extra_operations = 3e5;

  // Processes.
  std::size_t compile_workers = 0;  ///< 0: one per core, less one for the device worker
  /// Shared by sessions that run at the same time, in place of compile_workers.
  CompileSlots* compile_slots = nullptr;
  std::chrono::milliseconds compile_deadline{60000};
  /// Heap of one compile worker in bytes. Raise it for a compiler that needs more. 0: the worker's
  /// share of half of the machine's memory, between 2 and 16 GiB.
  std::uint64_t compile_memory_bytes = 0;
  DeviceDeadlines deadlines;
  std::filesystem::path worker_program;  ///< empty: this program (tuner/device/worker.hpp)

  // Memory of earlier sessions.
  bool fresh = false;  ///< start a new session: neither continue nor answer from a stored one
  /// Do not continue a session of another card with the same identity: equal cards differ by
  /// several percent. Set it where several cards share a list of problems.
  bool same_card = false;
  /// Set it to end after the current trial; a signal handler may.
  const std::atomic<bool>* stop = nullptr;
};

struct TuneRequest {
  const KernelSpec& spec;  ///< with its files
  Problem problem;
  std::string backend;  ///< "opencl"
  int ordinal = 0;
  TuneOptions options;
};

/// Why a session ended.
enum class SessionEnd {
  seconds,  ///< of the budget
  trials,
  no_progress,
  target,       ///< the speed-up of the budget was reached
  exhausted,    ///< every config of the space was tried
  none_found,   ///< no untried config was found in a space that cannot be counted
  interrupted,  ///< options.stop
  stored,       ///< nothing ran: an equal session had finished before
};

struct SessionResult {
  SessionId id = 0;
  SessionState state = SessionState::finished;
  SessionEnd end = SessionEnd::exhausted;
  DeviceInfo device;
  std::int64_t space_size = 0;
  std::int64_t trials = 0;  ///< stored in all runs of the session
  std::int64_t failures = 0;
  std::int64_t new_trials = 0;  ///< made by this run
  double wall_seconds = 0;      ///< of all runs
  double prepare_seconds = 0;   ///< of this run: preparing the problem on the device
  /// Nothing but the default config was tried, or all others that were tried failed, though there
  /// are more: the budget was too short. No best is published then.
  bool only_default = false;
  std::int64_t earlier_trials = 0;  ///< of `trials`, taken over from a session before an edit
  std::vector<WarmConfig> warm;     ///< what this run started from
  std::int64_t throttled = 0;       ///< trials with samples taken while the clock was limited
  std::string throttle;             ///< the reasons: "power_cap,heat"
  std::vector<DriftRecord> drift;   ///< the leader measured again, in order
  std::optional<BestRecord> best;
  /// Of a session that ended without a best: the fastest config so far (lookup/best_so_far.hpp), of
  /// the variants that were asked for.
  std::optional<BestRecord> so_far;
};

/// The message to an observer when a session starts.
struct SessionStart {
  SessionId id = 0;
  DeviceInfo device;
  std::int64_t space_size = 0;
  std::int64_t stored_trials = 0;  ///< above 0: the session goes on
  std::string strategy;
  std::vector<WarmConfig> warm;     ///< tried after the default config
  SessionId earlier_session = 0;    ///< before an edit of the spec; 0: there is none
  std::int64_t earlier_trials = 0;  ///< of that session, which hold here and are not run again
  std::int64_t earlier_others = 0;  ///< of that session, which an edit has changed
};

/// What an observer is told after each trial.
struct SessionProgress {
  std::int64_t trials = 0;  ///< stored so far
  std::int64_t failures = 0;
  double elapsed_seconds = 0;    ///< of all runs
  double trials_per_second = 0;  ///< of this run
  double best_ns = 0;            ///< time of the config that leads; 0: none yet
  std::string best_config;
  double default_ns = 0;  ///< 0: not measured or not ok
  std::optional<double> seconds_left;
  std::optional<std::int64_t> trials_left;
};

/// Told what happens, in the thread that called tune(). Only the command line prints.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_start(const SessionStart&) {}
  /// What is being done now, for a progress line; called at least twice a second.
  virtual void on_state(const std::string& /*activity*/, const SessionProgress&) {}
  virtual void on_trial(const TrialRecord&, const SessionProgress&) {}
  virtual void on_finals(const std::vector<Config>& /*finalists*/) {}
  virtual void on_warning(const std::string&) {}
};

/// Throws UsageError, InputError, DeviceError, DatabaseError or TransientError if the run must end.
/// A trial never throws.
///
/// If the same request is made again, an unfinished session goes on and measures nothing twice. A
/// finished session answers from the store, unless the new budget is larger: then it goes on.
///
/// Several threads may call it at the same time with one store, each for another device.
[[nodiscard]] SessionResult tune(const TuneRequest& request, Store& store,
                                 SessionObserver& observer);

}  // namespace kiln
