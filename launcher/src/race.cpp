// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/race.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace kiln {
namespace {

/// Counts a launch while it may run an entry that let_go() destroys.
class UnderWay {
 public:
  explicit UnderWay(std::atomic<int>& count) : count_(count) { count_.fetch_add(1); }
  ~UnderWay() { count_.fetch_sub(1); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

Race::Race(std::shared_ptr<Runtime> runtime, std::weak_ptr<BackgroundThread> thread,
           PartsOf parts_of, std::vector<Entry> entries, std::size_t ready, Rule rule, Ended ended)
    : runtime_(std::move(runtime)),
      thread_(std::move(thread)),
      parts_of_(std::move(parts_of)),
      on_end_(std::move(ended)),
      rule_(rule) {
  for (Entry& entry : entries) contenders_.push_back({std::move(entry)});
  contenders_[ready].state = Contender::State::prepared;
  lead(contenders_[ready], ready == 0 ? ""
                                      : "; until " + contenders_[0].entry.match.config +
                                            ", of which more is expected, is compiled");
}

// The thread owns the Race only while it works for it.
void Race::post(std::function<void(Race&)> work) {
  const std::shared_ptr<BackgroundThread> thread = thread_.lock();
  if (!thread) return;
  thread->post([weak = weak_from_this(), work = std::move(work)] {
    if (const std::shared_ptr<Race> race = weak.lock()) work(*race);
  });
}

void Race::start() {
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (contenders_[i].state != Contender::State::waiting) continue;
    post([i](Race& race) { race.compile(i); });
  }
}

// --- The thread ---------------------------------------------------------------------------------

void Race::compile(std::size_t index) {
  if (ended()) return;
  Contender& contender = contenders_[index];  // the list never grows
  std::optional<KernelParts>& parts = contender.entry.parts;
  if (!parts) {
    if (Expected<KernelParts> made = parts_of_(contender.entry.config)) parts = std::move(*made);
  }
  const bool compiled = parts && runtime_->compile_ahead(parts->source);
  const std::lock_guard held(mutex_);
  if (ended()) return;
  if (!compiled) return drop(contender);
  contender.state = Contender::State::compiled;
  prepare(contender);
}

void Race::prepare_compiled() {
  for (Contender& contender : contenders_) {
    const std::lock_guard held(mutex_);  // between two of them launches are timed
    prepare(contender);
  }
}

void Race::drop(Contender& contender) {
  contender.state = Contender::State::out;
  if (rule_ == Rule::expected && &contender == contenders_.data()) decide("");
}

// Here and not in a launch: this loads a program and allocates memory, which takes milliseconds.
void Race::prepare(Contender& contender) {
  if (ended() || contender.state != Contender::State::compiled || queues_.empty()) return;
  Expected<std::unique_ptr<PreparedKernel>> made =
      PreparedKernel::make(runtime_, *std::exchange(contender.entry.parts, std::nullopt));
  if (!made) return drop(contender);
  for (void* queue : queues_) {
    if (!(*made)->prepare_queue(queue)) return drop(contender);
  }
  contender.entry.kernel = std::move(*made);
  contender.state = Contender::State::prepared;
  if (rule_ == Rule::expected && &contender == contenders_.data()) decide("");
}

void Race::let_go() {
  while (under_way_.load() > 0) std::this_thread::yield();
  const std::lock_guard held(mutex_);
  for (Contender& contender : contenders_) {
    if (&contender != leading_) contender.entry.kernel.reset();
  }
}

// --- Launches -----------------------------------------------------------------------------------

Expected<void> Race::launch(void* queue, std::span<const LaunchArgument> arguments) {
  if (ended()) return leader().kernel->launch(queue, arguments);
  const UnderWay counted(under_way_);
  std::unique_lock held(mutex_, std::try_to_lock);
  if (!held || ended_.load() || runtime_->is_capturing(queue)) {
    if (held) held.unlock();
    return leader().kernel->launch(queue, arguments);
  }
  add_queue(queue);
  if (!timed_queue_ && rule_ == Rule::fastest) {
    timed_queue_ = queue;
    Result<std::unique_ptr<QueueTimer>> timer = runtime_->make_timer(queue);
    if (timer) {
      timer_ = std::move(*timer);
    } else {
      give_up_timing(timer.failure().message);
    }
  }
  Contender* contender = timer_ && timed_queue_ == queue && read_timer() ? next() : nullptr;
  if (contender == nullptr) {
    held.unlock();
    return leader().kernel->launch(queue, arguments);
  }
  return launch_timed(*contender, arguments);
}

Expected<void> Race::launch_timed(Contender& contender, std::span<const LaunchArgument> arguments) {
  void* const queue = *timed_queue_;
  PreparedKernel& kernel = *contender.entry.kernel;
  if (!contender.warm) {
    Expected<void> launched = kernel.launch(queue, arguments);
    contender.warm = static_cast<bool>(launched);
    if (launched || &contender == leading_) return launched;
    Expected<void> led = leader().kernel->launch(queue, arguments);
    if (led) drop(contender);  // else the arguments are wrong
    return led;
  }
  if (const Status started = timer_->start(); !started) {
    give_up_timing(started.failure().message);
    return leader().kernel->launch(queue, arguments);
  }
  Expected<void> launched = kernel.launch(queue, arguments);
  if (!launched) return launched;
  if (const Status stopped = timer_->stop(); !stopped) {
    give_up_timing(stopped.failure().message);
  } else {
    being_timed_ = &contender;
  }
  return launched;
}

bool Race::read_timer() {
  if (being_timed_ == nullptr) return true;
  const Result<std::optional<double>> elapsed = timer_->elapsed_ns();
  if (!elapsed) {
    give_up_timing(elapsed.failure().message);
    return false;
  }
  if (!*elapsed) return false;
  note(*std::exchange(being_timed_, nullptr), **elapsed);
  return true;
}

void Race::note(Contender& contender, double nanoseconds) {
  ++contender.samples;
  contender.fastest_ns =
      contender.samples == 1 ? nanoseconds : std::min(contender.fastest_ns, nanoseconds);
  for (Contender& other : contenders_) {
    if (&other == leading_ || other.samples < 2 || contender.samples < 2) continue;
    if (other.fastest_ns > kOut * contender.fastest_ns) other.state = Contender::State::out;
  }
}

bool Race::is_open(const Contender& contender) const {
  return contender.state == Contender::State::waiting ||
         contender.state == Contender::State::compiled ||
         (contender.state == Contender::State::prepared && contender.samples < kSamples);
}

// The entry with the fewest samples, so that all of them meet the same clocks.
Race::Contender* Race::next() {
  Contender* chosen = nullptr;
  bool open = false;
  for (Contender& contender : contenders_) {
    if (!is_open(contender)) continue;
    open = true;
    if (contender.state != Contender::State::prepared) continue;
    if (chosen == nullptr || contender.samples < chosen->samples) chosen = &contender;
  }
  if (!open || (chosen == nullptr && thread_.expired())) decide("");
  return chosen;
}

// --- The end ------------------------------------------------------------------------------------

void Race::lead(Contender& contender, const std::string& how) {
  Launcher::Match match = contender.entry.match;
  match.reason += how;
  runnings_.push_back({contender.entry.kernel.get(), std::move(match), contender.entry.counter});
  leading_ = &contender;
  leader_.store(&runnings_.back(), std::memory_order_release);
}

void Race::give_up_timing(const std::string& why) {
  timer_.reset();
  being_timed_ = nullptr;
  rule_ = Rule::expected;
  if (contenders_.front().state == Contender::State::prepared ||
      contenders_.front().state == Contender::State::out) {
    decide(why);
  }
}

void Race::decide(const std::string& why_early) {
  Contender* winner = leading_;
  std::size_t timed = 0;
  for (Contender& contender : contenders_) {
    if (contender.samples < 2) continue;
    ++timed;
    if (winner->samples >= 2 && contender.fastest_ns * kMargin < winner->fastest_ns) {
      winner = &contender;
    }
  }
  if (rule_ == Rule::expected && contenders_.front().state == Contender::State::prepared) {
    winner = contenders_.data();
  }
  std::string how;
  if (rule_ == Rule::fastest && timed > 1) {
    how = fmt::format("; the fastest of {} configs that took turns here ({:.4g} us)", timed,
                      winner->fastest_ns / 1e3);
  } else if (!why_early.empty()) {
    how = "; nothing was timed here: " + why_early;
  }
  if (winner != leading_ || !how.empty()) lead(*winner, how);
  timer_.reset();
  being_timed_ = nullptr;
  ended_.store(true);
  if (rule_ == Rule::fastest && timed > 1) on_end_(winner->entry.config, leader().match.reason);
  post([](Race& race) { race.let_go(); });
}

// --- Queues -------------------------------------------------------------------------------------

void Race::add_queue(void* queue) {
  if (std::find(queues_.begin(), queues_.end(), queue) != queues_.end()) return;
  queues_.push_back(queue);
  post([](Race& race) { race.prepare_compiled(); });
}

Expected<void> Race::prepare_queue(void* queue) {
  const std::lock_guard held(mutex_);
  if (ended()) return leader().kernel->prepare_queue(queue);
  Expected<void> prepared = leader().kernel->prepare_queue(queue);
  if (!prepared) return prepared;
  for (Contender& contender : contenders_) {
    if (contender.state != Contender::State::prepared || &contender == leading_) continue;
    if (!contender.entry.kernel->prepare_queue(queue)) contender.state = Contender::State::out;
  }
  add_queue(queue);
  return prepared;
}

void Race::forget_queue(void* queue) {
  const std::lock_guard held(mutex_);
  if (!ended() && timed_queue_ == queue) decide("its queue was given back");
  std::erase(queues_, queue);
  for (Contender& contender : contenders_) {
    if (contender.entry.kernel) contender.entry.kernel->forget_queue(queue);
  }
}

}  // namespace kiln
