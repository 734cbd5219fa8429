// The state behind the handles of a Launcher and its kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/problem.hpp"
#include "launcher/src/answer_cache.hpp"
#include "launcher/src/background_thread.hpp"
#include "launcher/src/call_statistics.hpp"
#include "launcher/src/databases.hpp"
#include "launcher/src/miss_tuner.hpp"
#include "launcher/src/prepared_kernel.hpp"
#include "launcher/src/problem_table.hpp"
#include "launcher/src/race.hpp"
#include "launcher/src/runtime.hpp"
#include "lookup/lookup.hpp"
#include "templates/library.hpp"

namespace kiln {

struct Launcher::Kernel::State {
  std::unique_ptr<PreparedKernel> kernel;  ///< null: the race owns it
  Running own;                             ///< of `kernel`
  std::shared_ptr<Race> race;              ///< null: `own` runs always
  /// The config of launches into a capturing stream, if that is another one; null: `kernel`.
  std::unique_ptr<PreparedKernel> captured;
  Launcher::Match captured_match;
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<CallStatistics> statistics;  ///< owns the counters; null: nothing is counted
  CallCounter* captured_counter = nullptr;
  std::string problem;
  std::vector<Requirement> arguments;
  std::vector<Requirement> workspaces;

  /// What launches run at the moment, captures apart.
  [[nodiscard]] const Running& running() const { return race ? race->leader() : own; }
  [[nodiscard]] Expected<void> launch(void* queue, std::span<const LaunchArgument> arguments);
};

/// A match of select(), with its counter; null: nothing is counted.
struct SelectedMatch {
  Launcher::Match match;
  CallCounter* counter = nullptr;
};

struct Launcher::State {
  explicit State(const Options& options);

  [[nodiscard]] Expected<MatchHandle> select(std::string_view kernel, std::string_view problem);
  [[nodiscard]] Expected<Kernel> prepare(std::string_view kernel, std::string_view problem);
  [[nodiscard]] Expected<void> forget_queue(void* queue);
  [[nodiscard]] Statistics counts() const;

  /// The sessions of tune_on_miss; none if it is off.
  [[nodiscard]] MissTuner& tuner() { return *tuner_; }

  Options options;
  std::shared_ptr<Runtime> runtime;
  std::vector<Warning> warnings;

 private:
  using Rows = std::shared_ptr<const std::vector<BestRecord>>;
  /// A kernel's spec, read at the first request, and its bests.
  struct KernelEntry {
    std::shared_ptr<const KernelSpec> spec;
    // Replaced under kernels_mutex_ when the shipped rows are needed or a problem was tuned.
    Rows rows;
    bool lacks_shipped = false;         ///< the shipped rows are not added yet
    std::optional<std::string> digest;  ///< digest of all rows; nullopt: answers are not kept
    std::size_t tuned = 0;              ///< bests that the tuner's thread has added
  };
  /// The bests of a kernel at one moment.
  struct Known {
    Rows rows;
    std::optional<std::string> digest;
    std::size_t tuned = 0;
  };
  struct Answer {
    kiln::Match match;
    /// Digest of the rows, if this answer is not in the cache yet.
    std::optional<std::string> unkept;
  };
  /// The meaning of a problem text of the application, and the answer of its lookup.
  struct Found {
    KernelEntry* entry = nullptr;
    std::size_t tuned = 0;  ///< Known::tuned before the lookup
    Problem problem;
    Answer answer;
  };
  [[nodiscard]] Expected<KernelEntry*> find_kernel(std::string_view kernel);
  [[nodiscard]] Known known_of(const KernelEntry& entry);
  /// Including the shipped rows.
  [[nodiscard]] Known all_known_of(KernelEntry& entry);
  /// Under kernels_mutex_.
  static void add_shipped(KernelEntry& entry);
  /// Makes the lookup, and starts tuning if the options ask for it.
  [[nodiscard]] Expected<Found> find(std::string_view kernel, std::string_view problem);
  [[nodiscard]] Expected<Found> find_once(std::string_view kernel, std::string_view problem);
  /// Has the tuner added no best of the kernel since `tuned`?
  [[nodiscard]] bool is_current(const KernelEntry& entry, std::size_t tuned);
  [[nodiscard]] Expected<Problem> parse_problem(const KernelSpec& spec,
                                                std::string_view text) const;
  [[nodiscard]] Expected<kiln::Match> find_match(const KernelSpec& spec, const Problem& problem,
                                                 std::span<const BestRecord> rows,
                                                 kiln::Timing timing) const;
  [[nodiscard]] Expected<std::shared_ptr<Kernel::State>> prepare_anew(Found found);
  [[nodiscard]] Expected<std::unique_ptr<PreparedKernel>> make_kernel(const KernelEntry& entry,
                                                                      const Problem& problem,
                                                                      const kiln::Match& match);
  /// Whether the options ask that `match` be compiled, or raced, beside the launches.
  [[nodiscard]] bool settles(const kiln::Match& match) const;
  /// The race of an untuned problem. Null: there is nothing to compile and nothing to time.
  [[nodiscard]] std::shared_ptr<Race> make_race(const Found& found);
  /// The answer for launches into a capturing stream of a problem that was found.
  [[nodiscard]] Expected<Answer> captured_answer(const Found& found);
  /// The match of launches into a capturing stream, and its kernel if that is another one.
  void prepare_captured(const Found& found, Kernel::State& state);
  [[nodiscard]] CallCounter* counter_of(const KernelSpec& spec, const Problem& problem,
                                        const Match& match);
  // Called by the tuner's thread for each problem that it tuned.
  void add_best(const BestRecord& best);
  void forget(const Miss& miss, const std::set<std::string>& asked_texts);

  KernelLibrary library_;
  TunedRows rows_;
  AnswerCache answers_;
  AnswerCache captured_answers_;  ///< of launches into a capturing stream

  std::mutex kernels_mutex_;                                 ///< guards kernels_ and rows_
  std::map<std::string, KernelEntry, std::less<>> kernels_;  ///< only grows
  std::mutex prepare_mutex_;  ///< one kernel is rendered and compiled at a time

  std::shared_ptr<CallStatistics> statistics_;  ///< null: nothing is counted
  ProblemTable<const SelectedMatch> matches_;
  ProblemTable<Kernel::State> prepared_;
  std::mutex made_mutex_;
  /// All kernels, also those that only the application holds.
  std::vector<std::weak_ptr<Kernel::State>> made_;
  std::mutex outdated_mutex_;
  /// Kernels that the tuner's thread took out of prepared_. The application's next cold call
  /// destroys them: this frees device memory, which a graph capture forbids to all threads.
  std::vector<std::shared_ptr<Kernel::State>> outdated_;

  std::shared_ptr<BackgroundThread> background_;  ///< of the races, which hold no owner of it
  std::unique_ptr<MissTuner> tuner_;  ///< last member: its thread uses the members above
};

}  // namespace kiln
