// TrialPipeline: turns configs into finished trials: plans, renders, compiles ahead, verifies and
// measures.
//
// Compiling runs ahead of measuring; identical sources are compiled once. A config that fails
// before it reaches the device does not wait for the device, but never comes out before the first
// submitted config. Of the compiled configs that wait for the device, those that look hopeless by
// their registers, spills and shared memory go last (search/prior.hpp). Used from the supervisor's
// thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/setting.hpp"
#include "core/trial.hpp"
#include "search/prior.hpp"
#include "templates/renderer.hpp"
#include "tuner/rules/time_use.hpp"
#include "tuner/workers/compile_pool.hpp"
#include "tuner/workers/device_client.hpp"

namespace kiln {

class TrialPipeline {
 public:
  /// Parses the templates. Throws InputError for the first wrong one. Starts no process.
  TrialPipeline(Setting setting, CompilePool& compilers, DeviceClient& device);
  ~TrialPipeline() { device_.set_watch({}); }
  TrialPipeline(const TrialPipeline&) = delete;

  /// Called when a device worker is about to get the config, and when that worker died.
  using Watch = std::function<void(const Config&, AttemptEvent)>;
  void set_watch(Watch watch);
  /// A worker died over this config in an earlier run of the session: one more death is enough.
  void suspect(const std::string& config_text) { suspects_.insert(config_text); }

  /// Returns whether another config may be submitted. The compilers get two sources more than
  /// there are workers, unless the device has not kept up.
  [[nodiscard]] bool wants_more() const;
  void submit(const Config& config);
  [[nodiscard]] std::size_t in_flight() const {
    return waiting_.size() + (running_ ? 1 : 0) + failed_.size();
  }

  /// Advances all work and waits for events, at most until `until`. `incumbent_ns`: best median so
  /// far, 0: none.
  [[nodiscard]] std::vector<Trial> step(Clock::time_point until, double incumbent_ns);

  /// Starts the next config on the device, if one is ready. step() leaves that to its caller when
  /// it returns a trial that ran there, so that the trial is stored first.
  void start_next(double incumbent_ns);
  /// Returns the config that the following start_next() will start, so that it can be entered in
  /// the database together with the trial. nullptr if none is ready. Valid until then.
  [[nodiscard]] const Config* choose_next();
  /// Returns whether the device worker has sent something that step() has not read yet. Does not
  /// wait.
  [[nodiscard]] bool has_report();

  /// The session is about to end: see DeviceClient::hurry(). Returns the config that must hurry,
  /// the first time; else nullptr.
  [[nodiscard]] const Config* hurry();

  /// Drops the configs that have not reached the device and stops compiling. The config on the
  /// device, if any, still comes out of step().
  void drop_waiting();

  /// A library whose call runs in turn with the finalists; see FinalsJob.
  struct Rival {
    std::string library;  ///< empty: none
    bool other_cache = false;
  };
  /// Runs `ok` configs in turn and waits; the samples have the same order, those of a rival come
  /// last. Nothing may be in flight. A Failure means that a config cannot be compiled any more.
  /// nullopt: `stop` became true.
  [[nodiscard]] std::optional<FinalsReport> run_finals(const std::vector<Config>& configs,
                                                       const FinalsOptions& rounds,
                                                       const std::atomic<bool>* stop,
                                                       const Rival& rival);
  [[nodiscard]] std::optional<FinalsReport> run_finals(const std::vector<Config>& configs,
                                                       const FinalsOptions& rounds,
                                                       const std::atomic<bool>* stop) {
    return run_finals(configs, rounds, stop, Rival());
  }

  /// Runs every check, those on other problems included, on `ok` configs, one after the other, and
  /// waits. Skips configs that passed all of them in this run. Nothing may be in flight. Returns
  /// the reason of each failed config. nullopt: `stop` became true.
  using Unproven = std::map<std::string, Failure>;  ///< by canonical text
  [[nodiscard]] std::optional<Unproven> prove(const std::vector<Config>& configs,
                                              double incumbent_ns, const std::atomic<bool>* stop);

  /// Runs one `ok` config some more times, between two trials, and waits. nullopt: not possible now
  /// (a trial runs, its binary is not loaded), or `stop` became true.
  [[nodiscard]] std::optional<FinalsReport> run_again(const Config& config,
                                                      const FinalsOptions& rounds,
                                                      const std::atomic<bool>* stop);

  /// Returns how the device and the compilers have spent their time, and the time of rendering.
  [[nodiscard]] const TimeUse& time_use() const { return use_; }

  /// Describes what the device is doing.
  [[nodiscard]] std::string activity() const;

 private:
  struct Candidate {
    Trial trial;
    Source source;                     ///< cleared once it is submitted for compiling
    std::optional<Forecast> forecast;  ///< once it is compiled
  };
  /// The state of one source.
  struct Build {
    bool done = false;
    bool charged = false;  ///< whether its time was counted for a trial
    std::optional<Failure> failure;
    std::shared_ptr<const Binary> binary;
    std::int64_t compile_ns = 0;
    Clock::time_point done_at;
  };

  /// Runs every check on a config that was right in the search.
  [[nodiscard]] std::optional<Failure> prove_once(const Candidate& candidate, const Binary& binary,
                                                  double incumbent_ns);
  /// The finals' plans and binaries; a config without one is a Failure. nullopt: stopped.
  [[nodiscard]] std::optional<Result<FinalsJob>> make_finals(const std::vector<Config>& configs,
                                                             const std::atomic<bool>* stop);
  /// Waits until its build is done and the device is idle. False: stopped.
  [[nodiscard]] bool await_turn(const Candidate& candidate, const std::atomic<bool>* stop);
  [[nodiscard]] Candidate make_candidate(const Config& config) const;
  void request_build(Candidate& candidate);
  void take_compiled();
  [[nodiscard]] bool may_start(bool is_front) const;
  /// Does it look hopeless, now that it is compiled?
  [[nodiscard]] bool looks_hopeless(Candidate& candidate, const Build& build);
  /// The candidate that may start now; the end of waiting_ if there is none.
  [[nodiscard]] std::deque<Candidate>::iterator next_candidate();
  void move_candidates(double incumbent_ns);
  void start_on_device(Candidate candidate, const Build& build, double incumbent_ns);
  void finish_on_device(TrialReport report);
  void count_idle_time(const Build& build);
  void count_busy_time(const TrialReport& report, const Trial& trial);
  void book_build(Trial& trial, Build& build);
  void forget_old_builds();
  void keep_cores_free();
  void wait(Clock::time_point until);

  Setting setting_;
  Renderer renderer_;
  Prior prior_;
  Hopes hopes_;  ///< of the configs that were compiled
  CompilePool& compilers_;
  DeviceClient& device_;
  std::deque<Candidate> waiting_;       ///< in the order submitted
  std::deque<Trial> failed_;            ///< finished without the device
  std::unique_ptr<Candidate> running_;  ///< on the device
  std::vector<Trial> finished_;
  std::set<std::string> suspects_;  ///< canonical texts
  std::set<std::string> proven_;    ///< canonical texts of configs that passed every check
  std::size_t submitted_ = 0;
  bool first_is_out_ = false;
  bool next_is_chosen_ = false;          ///< the chosen config is the front of waiting_
  std::map<std::string, Build> builds_;  ///< by source key
  std::list<std::string> build_order_;   ///< keys with binaries, oldest first
  std::size_t build_bytes_ = 0;
  TimeUse use_;
  Clock::time_point turned_ = Clock::now();  ///< when the device last got or finished a config
};

}  // namespace kiln
