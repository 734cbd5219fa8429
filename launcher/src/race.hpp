// Race: one kernel for an untuned problem, in several configs. No launch waits for a compiler:
// launches run the config that was ready first, while a thread prepares those that the lookup
// expects more of. Then the configs take turns on the application's own launches, timed on its
// queue, and the fastest stays.
//
// Each launch does the whole work, whichever config runs it. Launches that are captured into a
// graph, and those on other queues than the first, run the leader and are not timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kiln/launcher.hpp>

#include "launcher/src/background_thread.hpp"
#include "launcher/src/call_statistics.hpp"
#include "launcher/src/prepared_kernel.hpp"

namespace kiln {

/// Renders and plans a config of the kernel. Any thread may call it.
using PartsOf = std::function<Expected<KernelParts>(const Config& config)>;

/// A config that launches run. Never changes.
struct Running {
  PreparedKernel* kernel = nullptr;
  Launcher::Match match;
  CallCounter* counter = nullptr;  ///< null: nothing is counted
};

/// Every function may be called from any thread.
class Race : public std::enable_shared_from_this<Race> {
 public:
  /// A config that may win.
  struct Entry {
    Config config;
    Launcher::Match match;
    CallCounter* counter = nullptr;
    std::unique_ptr<PreparedKernel> kernel = nullptr;  ///< null: to be prepared
    std::optional<KernelParts> parts = std::nullopt;   ///< nullopt: to be rendered
  };
  enum class Rule {
    expected,  ///< the first entry stays as soon as it is prepared
    fastest,   ///< the entries are timed
  };
  /// Called once if configs were timed, with the one that stays. Must not use the Race.
  using Ended = std::function<void(const Config& winner, const std::string& reason)>;

  /// `entries`: what the lookup expects most of comes first. Launches run the entry `ready`, which
  /// has its kernel.
  Race(std::shared_ptr<Runtime> runtime, std::weak_ptr<BackgroundThread> thread, PartsOf parts_of,
       std::vector<Entry> entries, std::size_t ready, Rule rule, Ended ended);
  ~Race() = default;
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  /// Gives the preparing of the entries to the thread.
  void start();

  [[nodiscard]] Expected<void> launch(void* queue, std::span<const LaunchArgument> arguments);
  /// What launches run at the moment. The reference stays valid as long as the Race.
  [[nodiscard]] const Running& leader() const { return *leader_.load(std::memory_order_acquire); }
  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }

  [[nodiscard]] Expected<void> prepare_queue(void* queue);
  /// A race on that queue ends with what is known.
  void forget_queue(void* queue);

  /// Timed launches of each entry, after one that is not counted.
  static constexpr std::size_t kSamples = 5;
  /// From the second on, an entry that is slower than the fastest by this factor is out.
  static constexpr double kOut = 1.2;
  /// Another entry than the leader must be faster by this factor.
  static constexpr double kMargin = 1.01;

 private:
  struct Contender {
    Entry entry;
    enum class State { waiting, compiled, prepared, out } state = State::waiting;
    bool warm = false;  ///< launched once
    std::size_t samples = 0;
    double fastest_ns = 0;
  };

  void post(std::function<void(Race&)> work);
  // Of the thread.
  void compile(std::size_t index);
  /// Makes the kernels of compiled entries, once a queue is known.
  void prepare_compiled();
  void let_go();

  // All below under mutex_.
  void add_queue(void* queue);
  void prepare(Contender& contender);
  void drop(Contender& contender);
  void lead(Contender& contender, const std::string& how);
  /// Reads the timer. False: the timed launch has not ended.
  [[nodiscard]] bool read_timer();
  [[nodiscard]] Contender* next();
  void note(Contender& contender, double nanoseconds);
  void decide(const std::string& why_early);
  void give_up_timing(const std::string& why);
  [[nodiscard]] Expected<void> launch_timed(Contender& contender,
                                            std::span<const LaunchArgument> arguments);
  [[nodiscard]] bool is_open(const Contender& contender) const;

  const std::shared_ptr<Runtime> runtime_;
  const std::weak_ptr<BackgroundThread> thread_;  ///< gone: the launcher is
  const PartsOf parts_of_;
  const Ended on_end_;

  std::atomic<const Running*> leader_{nullptr};
  std::atomic<bool> ended_{false};
  std::atomic<int> under_way_{0};  ///< launches that may run an entry that does not stay

  std::mutex mutex_;  ///< guards everything below
  Rule rule_;
  std::vector<Contender> contenders_;
  Contender* leading_ = nullptr;
  std::deque<Running> runnings_;  ///< only grows: references go out
  std::vector<void*> queues_;     ///< that the application launched on or prepared
  std::optional<void*> timed_queue_;
  std::unique_ptr<QueueTimer> timer_;
  Contender* being_timed_ = nullptr;
};

}  // namespace kiln
