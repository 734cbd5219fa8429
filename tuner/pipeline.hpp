// TrialPipeline: configs in, finished trials out: plan, render, compile ahead, verify and measure.
//
// Compiling runs ahead of measuring; identical sources are compiled once. Configs that fail before
// they reach the device come out without waiting for it, but never before the very first config
// submitted. Used from the supervisor's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/trial.hpp"
#include "templates/renderer.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/device_client.hpp"
#include "tuner/time_use.hpp"

namespace kiln {

class TrialPipeline {
 public:
  /// What trials are made of; must outlive the pipeline.
  struct Inputs {
    const KernelSpec& spec;
    const Problem& problem;
    const DeviceInfo& device;
  };
  /// Parses the templates: throws InputError for the first that is wrong. Starts no process.
  TrialPipeline(const Inputs& inputs, CompilePool& compilers, DeviceClient& device);
  ~TrialPipeline() { device_.set_watch({}); }
  TrialPipeline(const TrialPipeline&) = delete;

  /// Told when the config is about to be given to a device worker, and when that worker died.
  using Watch = std::function<void(const Config&, AttemptEvent)>;
  void set_watch(Watch watch);
  /// A worker died over this config in an earlier run of the session: one more death is enough.
  void suspect(const std::string& config_text) { suspects_.insert(config_text); }

  /// Is there room for another config? The compilers are kept fed two sources beyond one each,
  /// unless the device is behind with what they have made.
  [[nodiscard]] bool wants_more() const;
  void submit(const Config& config);
  [[nodiscard]] std::size_t in_flight() const {
    return waiting_.size() + (running_ ? 1 : 0) + failed_.size();
  }

  /// Moves everything on and waits for news until `until` at most. `incumbent_ns`: best median so
  /// far, 0: none.
  [[nodiscard]] std::vector<Trial> step(Clock::time_point until, double incumbent_ns);

  /// Starts the next config on the device, if one is ready. step() leaves that to its caller when
  /// it returns a trial that ran there, so that the trial is stored first.
  void start_next(double incumbent_ns);
  /// The config that start_next() would start and now will, so that it can be entered in the
  /// database together with the trial; nullptr: none is ready. Valid until then.
  [[nodiscard]] const Config* choose_next();
  /// Has the device worker something to say that step() has not taken yet? Does not wait.
  [[nodiscard]] bool has_report();

  /// The session is about to end: see DeviceClient::hurry(). The config that has to, where that is
  /// news; else nullptr.
  [[nodiscard]] const Config* hurry();

  /// Forgets the configs that have not reached the device and stops compiling; the one on the
  /// device, if any, still comes out of step().
  void drop_waiting();

  /// Runs configs that were ok in turn (samples in the same order) and waits. Nothing may be in
  /// flight. A config that cannot be compiled any more is a Failure. nullopt: `stop` became true.
  [[nodiscard]] std::optional<FinalsReport> run_finals(const std::vector<Config>& configs,
                                                       const FinalsOptions& rounds,
                                                       const std::atomic<bool>* stop);

  /// Puts configs that were ok through every check, those on other problems included, one after the
  /// other, and waits; those that went through all in this run already are left out. Nothing may be
  /// in flight. Gives the reason of each that fails. nullopt: `stop` became true.
  using Unproven = std::map<std::string, Failure>;  ///< by canonical text
  [[nodiscard]] std::optional<Unproven> prove(const std::vector<Config>& configs,
                                              double incumbent_ns, const std::atomic<bool>* stop);

  /// Runs one config that was ok some more times, between two trials, and waits. nullopt: not now
  /// (something runs, its binary is not at hand), or `stop` became true.
  [[nodiscard]] std::optional<FinalsReport> run_again(const Config& config,
                                                      const FinalsOptions& rounds,
                                                      const std::atomic<bool>* stop);

  /// Where the time of device and compilers went so far, and what rendering took.
  [[nodiscard]] const TimeUse& time_use() const { return use_; }

  /// What the device is doing, for people.
  [[nodiscard]] std::string activity() const;

 private:
  struct Candidate {
    Trial trial;
    LaunchPlan plan;
    Source source;  ///< emptied once its binary is on the way
  };
  /// What became of one source.
  struct Build {
    bool done = false;
    bool charged = false;  ///< its time was booked on a trial
    std::optional<Failure> failure;
    std::shared_ptr<const Binary> binary;
    std::int64_t compile_ns = 0;
    Clock::time_point done_at;
  };

  /// Puts a config that was right in the search through every check.
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
  void move_candidates(double incumbent_ns);
  void start_on_device(Candidate candidate, const Build& build, double incumbent_ns);
  void finish_on_device(TrialReport report);
  void count_idle_time(const Build& build);
  void count_busy_time(const TrialReport& report, const Trial& trial);
  void book_build(Trial& trial, Build& build);
  void forget_old_builds();
  void keep_cores_free();
  void wait(Clock::time_point until);

  Inputs inputs_;
  Renderer renderer_;
  CompilePool& compilers_;
  DeviceClient& device_;
  std::deque<Candidate> waiting_;       ///< in the order submitted
  std::deque<Trial> failed_;            ///< finished without the device
  std::unique_ptr<Candidate> running_;  ///< on the device
  std::vector<Trial> finished_;
  std::set<std::string> suspects_;  ///< canonical texts
  std::set<std::string> proven_;    ///< canonical texts: went through every check
  std::size_t submitted_ = 0;
  bool first_is_out_ = false;
  bool next_is_chosen_ = false;          ///< it is the front of waiting_
  std::map<std::string, Build> builds_;  ///< by source key
  std::list<std::string> build_order_;   ///< keys with binaries, oldest first
  std::size_t build_bytes_ = 0;
  TimeUse use_;
  Clock::time_point turned_ =
      Clock::now();  ///< when the device was last given or done with a config
};

}  // namespace kiln
