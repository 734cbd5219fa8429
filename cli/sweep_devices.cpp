// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_devices.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/dealer.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/status_area.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "core/started_thread.hpp"
#include "core/suggest.hpp"
#include "core/transient_error.hpp"
#include "tuner/session/attempt_witness.hpp"
#include "tuner/workers/compile_slots.hpp"

namespace kiln::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string class_key(const DeviceInfo& device) {
  return identity_of(device) + '\n' + device.driver + '\n' + device.compiler;
}

std::string session_key(const std::string& kernel, const std::string& problem, Timing timing) {
  return fmt::format("{} {} {}", kernel, problem, name_of(timing));
}

Dealer::Session dealt_session(const ReadySession& session, const DeviceInfo& device) {
  const SearchSettings& settings = session.settings;
  const bool has_budget = settings.seconds || settings.trials || settings.no_progress;
  const double without = has_budget ? std::numeric_limits<double>::infinity() : kDefaultSeconds;
  const ProblemCost cost = Setting(session.spec, session.problem, device).cost();
  const double trials = static_cast<double>(settings.trials.value_or(1));
  const Timing timing = settings.timing.value_or(Timing::eager);
  return {session_key(session.spec.name, session.problem.text(), timing),
          settings.seconds.value_or(without), trials * std::max(cost.bytes, cost.flops)};
}

/// By session_key(): the ordinal of the device whose session of this class has not ended.
std::map<std::string, int> begun_sessions(const Store& store, const DeviceInfo& device) {
  std::map<std::string, int> begun;
  for (const SessionRecord& record : store.sessions()) {
    if (current_identity(record.key.device, device) != identity_of(device)) continue;
    const std::string key = session_key(record.key.kernel, record.key.problem, record.key.timing);
    begun.erase(key);
    if (record.state != SessionState::finished) begun.emplace(key, record.device_info.ordinal);
  }
  return begun;
}

std::vector<Dealer::Session> dealt_sessions(const DeviceClass& group, const Store& store) {
  const std::map<std::string, int> begun = begun_sessions(store, group.devices.front());
  std::vector<Dealer::Session> sessions;
  for (const ReadySession& session : group.sessions) {
    Dealer::Session dealt = dealt_session(session, group.devices.front());
    if (const auto found = begun.find(dealt.key); found != begun.end()) {
      for (std::size_t i = 0; i < group.devices.size(); ++i) {
        if (group.devices[i].ordinal == found->second) dealt.begun_by = i;
      }
    }
    sessions.push_back(std::move(dealt));
  }
  return sessions;
}

/// As many compilers as cores, less one a device where there are enough.
std::size_t compile_slots(const SearchOptions& options, std::size_t devices) {
  if (options.compile_workers > 0) return options.compile_workers;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return cores > 2 * devices ? cores - devices : cores;
}

/// What all devices of a sweep share.
struct SharedSweep {
  Store& store;
  const SearchOptions& options;
  std::size_t devices;
  StatusArea area;
  CompileSlots slots;
  std::size_t sessions = 0;         ///< of all classes
  std::deque<Dealer> dealers = {};  ///< one a class
  std::atomic<bool> stop = false;   ///< ends the sessions that run
  std::mutex mutex = {};            ///< of what follows, and of the summaries
  std::exception_ptr error = {};

  void note_error(std::exception_ptr first) {
    const std::scoped_lock lock(mutex);
    if (!error) error = std::move(first);
  }
  void stop_all() {
    stop = true;
    for (Dealer& dealer : dealers) dealer.stop();
  }
};

/// One device of the sweep, in a thread of its own.
class SweptDevice {
 public:
  struct Place {
    std::size_t row = 0;    ///< of the status area
    std::size_t index = 0;  ///< within its class
    std::size_t first = 0;  ///< number of the first session of its class, from 0
  };
  SweptDevice(SharedSweep& shared, DeviceClass& group, Dealer& dealer, Place place)
      : shared_(shared), group_(group), dealer_(dealer), place_(place) {}

  /// Throws nothing: what ends the sweep is noted there.
  void run() noexcept {
    try {
      while (const auto session = dealer_.next(place_.index)) {
        if (!tune_one(*session)) break;
      }
    } catch (...) {
      shared_.note_error(std::current_exception());
      shared_.stop_all();
    }
    dealer_.leave(place_.index);
  }

 private:
  [[nodiscard]] const DeviceInfo& device() const { return group_.devices[place_.index]; }
  /// False: this device does not come back.
  [[nodiscard]] bool tune_one(std::size_t index);
  [[nodiscard]] bool wait_for_device(const TransientError& error, const AttemptWitness& witness,
                                     std::size_t index);
  void end_session(std::size_t index, SessionSummary summary);
  void note_summary(std::size_t index, SessionSummary summary);
  [[nodiscard]] TuneOptions options_of(const ReadySession& session) const;
  void warn(const std::string& message) {
    shared_.area.print(fmt::format("kiln: warning: {}\n", message));
  }

  SharedSweep& shared_;
  DeviceClass& group_;
  Dealer& dealer_;
  Place place_;
  std::map<std::size_t, int> barren_;  ///< by session: losses of the device without a trial
  std::optional<SteadyClock::time_point> missing_since_;
  std::chrono::milliseconds pause_{};
};

TuneOptions SweptDevice::options_of(const ReadySession& session) const {
  TuneOptions tune = tune_options(shared_.options, session.settings);
  tune.stop = &shared_.stop;
  tune.compile_slots = &shared_.slots;
  tune.same_card = group_.devices.size() > 1;
  return tune;
}

bool SweptDevice::tune_one(std::size_t index) {
  const ReadySession& ready = group_.sessions[index];
  SessionSummary summary = summarise({ready.spec, ready.problem, device()});
  const TuneOptions tune_with = options_of(ready);
  summary.variants = tune_with.variants;
  ProgressLine progress(
      fmt::format("[{}/{}] {}{} {}", place_.first + index + 1, shared_.sessions,
                  shared_.devices > 1 ? selector_of(device()) + ' ' : "", summary.kernel,
                  summary.problem),
      tune_with.budget,
      shared_.options.quiet ? ProgressLine::Mode::quiet : ProgressLine::suited_mode(), shared_.area,
      place_.row);
  AttemptWitness witness(progress);
  Patience patience = patience_of(shared_.options);
  patience.for_device = false;
  try {
    summary.result =
        tune_patiently({ready.spec, ready.problem, device().backend, device().ordinal, tune_with},
                       shared_.store, witness, patience);
    summary.trials = shared_.store.trials(summary.result->id);
  } catch (const Error& error) {
    const auto* passing = dynamic_cast<const TransientError*>(&error);
    if (passing != nullptr && passing->code() == ExitCode::no_device)
      return wait_for_device(*passing, witness, index);
    summary.error = error.what();
    summary.trials = stored_trials(shared_.store, witness.session);
    if (ends_all(error)) {
      note_summary(index, std::move(summary));
      throw;
    }
    progress.on_warning(summary.error);
  } catch (const std::exception& error) {
    summary.error = fmt::format("defect of Kiln: {}", error.what());
    progress.on_warning(summary.error);
  }
  missing_since_.reset();
  end_session(index, std::move(summary));
  return true;
}

void SweptDevice::end_session(std::size_t index, SessionSummary summary) {
  const bool is_interrupted = summary.result && summary.result->end == SessionEnd::interrupted;
  if (!is_interrupted) dealer_.done(place_.index);
  note_summary(index, std::move(summary));
}

void SweptDevice::note_summary(std::size_t index, SessionSummary summary) {
  const std::scoped_lock lock(shared_.mutex);
  group_.summaries[index] = std::move(summary);
}

/// Returns the session and waits, longer each time, until the patience is over.
bool SweptDevice::wait_for_device(const TransientError& error, const AttemptWitness& witness,
                                  std::size_t index) {
  if (shared_.stop) return false;
  const bool is_ended = witness.started && !witness.tried && ++barren_[index] == kMaxBarrenAttempts;
  if (is_ended) {
    SessionSummary summary =
        summarise({group_.sessions[index].spec, group_.sessions[index].problem, device()});
    summary.error = barren_attempts_text(error.reason());
    end_session(index, std::move(summary));
  } else {
    if (witness.tried) barren_[index] = 0;
    dealer_.give_back(place_.index, witness.started ? Dealer::Begun::yes : Dealer::Begun::no);
  }
  const Patience patience = patience_of(shared_.options);
  const auto now = SteadyClock::now();
  const bool is_new = witness.started || !missing_since_;
  if (is_new) {
    missing_since_ = now;
    pause_ = patience.first_pause;
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*missing_since_ +
                                                                          patience.longest - now);
  if (left.count() <= 0) {
    shared_.note_error(std::make_exception_ptr(error));
    warn(fmt::format("{}; {} takes no part any more", error.reason(), selector_of(device())));
    return false;
  }
  if (is_new) {
    warn(fmt::format("{}; its session {}, and {} is tried again for {:.0f} s", error.reason(),
                     is_ended ? "has failed" : "is given back", selector_of(device()),
                     std::chrono::duration<double>(patience.longest).count()));
  }
  const bool goes_on = dealer_.pause(place_.index, std::min(pause_, left));
  pause_ = std::min(2 * pause_, patience.longest_pause);
  return goes_on;
}

/// Until all devices are through, or a signal came.
void watch(SharedSweep& shared, const std::atomic<std::size_t>& running) {
  constexpr std::chrono::milliseconds kGlance{50};
  while (running > 0) {
    if (stop_on_signals()) shared.stop_all();
    std::this_thread::sleep_for(kGlance);
  }
}

}  // namespace

std::string DeviceClass::name() const {
  std::vector<std::string> selectors;
  for (const DeviceInfo& device : devices) selectors.push_back(selector_of(device));
  return fmt::format("{} ({})", devices.front().name, comma_list(selectors));
}

std::vector<DeviceClass> classes_of(const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceClass> classes;
  for (const DeviceInfo& device : devices) {
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const DeviceClass& known) {
      return class_key(known.devices.front()) == class_key(device);
    });
    if (found != classes.end()) {
      found->devices.push_back(device);
    } else {
      classes.push_back({{device}, {}});
    }
  }
  return classes;
}

SweepEnd sweep_devices(std::vector<DeviceClass>& classes, Store& store,
                       const SearchOptions& options) {
  std::size_t devices = 0;
  for (const DeviceClass& group : classes) devices += group.devices.size();
  SharedSweep shared{store, options, devices, StatusArea(devices),
                     CompileSlots(compile_slots(options, devices), devices)};
  (void)stop_on_signals();  // before the first thread
  for (DeviceClass& group : classes) {
    group.summaries.resize(group.sessions.size());
    shared.dealers.emplace_back(dealt_sessions(group, store), group.devices.size());
  }
  std::deque<SweptDevice> swept;
  std::size_t first = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (std::size_t d = 0; d < classes[i].devices.size(); ++d) {
      swept.emplace_back(shared, classes[i], shared.dealers[i],
                         SweptDevice::Place{swept.size(), d, first});
    }
    first += classes[i].sessions.size();
  }
  shared.sessions = first;
  std::atomic<std::size_t> running = swept.size();
  std::deque<std::jthread> threads;
  try {
    for (SweptDevice& device : swept) {
      threads.push_back(started_thread([&device, &running] {
        device.run();
        --running;
      }));
    }
  } catch (const Error&) {
    shared.note_error(std::current_exception());
    shared.stop_all();
    running -= swept.size() - threads.size();
  }
  watch(shared, running);
  threads.clear();
  SweepEnd end{0, shared.error};
  for (const Dealer& dealer : shared.dealers) end.left += dealer.left();
  return end;
}

}  // namespace kiln::cli
