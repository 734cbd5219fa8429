// Repeats a session after a passing failure, with pauses, until the patience of the request ends.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/patience.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/transient_error.hpp"
#include "db/server/server_place.hpp"
#include "tuner/session/attempt_witness.hpp"

namespace kiln {
namespace {

std::string waiting_text(const std::string& reason, const Patience& patience) {
  return fmt::format("{}; waiting, {:.0f} s at most", reason,
                     std::chrono::duration<double>(patience.longest).count());
}

/// Tells when the waiting begins and when it ends.
class PatientWitness final : public AttemptWitness {
 public:
  using AttemptWitness::AttemptWitness;

  void on_start(const SessionStart& start) override {
    if (std::exchange(is_waiting_, false)) on_warning("the session goes on");
    AttemptWitness::on_start(start);
  }

  /// Before each pause; the first one is announced.
  void on_wait(const std::string& reason, const Patience& patience) {
    if (std::exchange(is_waiting_, true)) return;
    on_warning(waiting_text(reason, patience));
  }

 private:
  bool is_waiting_ = false;
};

bool is_set(const std::atomic<bool>* stop) { return stop != nullptr && stop->load(); }

/// Returns early when `stop` is set.
void pause_for(Clock::duration pause, const std::atomic<bool>* stop) {
  constexpr std::chrono::milliseconds kGlance{100};
  const auto until = Clock::now() + pause;
  while (!is_set(stop) && Clock::now() < until)
    std::this_thread::sleep_for(std::min<Clock::duration>(kGlance, until - Clock::now()));
}

}  // namespace

std::string barren_attempts_text(const std::string& reason) {
  return fmt::format("{} times no trial came to its end: {}", kMaxBarrenAttempts, reason);
}

Store open_patiently(const std::filesystem::path& place, const Patience& patience,
                     const std::atomic<bool>* stop,
                     const std::function<void(const std::string&)>& warn) {
  const Clock::time_point since = Clock::now();
  Clock::duration pause = patience.first_pause;
  while (true) {
    try {
      return Store(place, Store::Mode::write);
    } catch (const TransientError& error) {
      const Clock::duration left = since + patience.longest - Clock::now();
      if (names_server(place) || left <= Clock::duration::zero() || is_set(stop)) throw;
      if (pause == patience.first_pause) warn(waiting_text(error.reason(), patience));
      pause_for(std::min(pause, left), stop);
      pause = std::min<Clock::duration>(2 * pause, patience.longest_pause);
    }
  }
}

SessionResult tune_patiently(TuneRequest request, Store& store, SessionObserver& observer,
                             const Patience& patience) {
  PatientWitness witness(observer);
  Clock::time_point missing_since = Clock::now();
  Clock::duration pause = patience.first_pause;
  int barren_attempts = 0;
  while (true) {
    witness.begin_attempt();
    try {
      return tune(request, store, witness);
    } catch (const TransientError& error) {
      const bool is_device = error.code() == ExitCode::no_device;
      if (witness.started) request.options.fresh = false;  // what has begun goes on
      // On a disk that is nearly full a session may begin again and again, and store no trial.
      if (is_device ? witness.started : witness.tried) {
        missing_since = Clock::now();
        pause = patience.first_pause;
      }
      if (is_device && witness.started) barren_attempts = witness.tried ? 0 : barren_attempts + 1;
      if (barren_attempts == kMaxBarrenAttempts) {
        throw Error(ExitCode::failed, barren_attempts_text(error.reason()));
      }
      const Clock::duration left = missing_since + patience.longest - Clock::now();
      const bool waits = patience.for_device || !is_device;
      const std::atomic<bool>* stop = request.options.stop;
      if (!waits || left <= Clock::duration::zero() || is_set(stop)) throw;
      witness.on_wait(error.reason(), patience);
      pause_for(std::min(pause, left), stop);
      if (is_set(stop)) throw;
      pause = std::min<Clock::duration>(2 * pause, patience.longest_pause);
    }
  }
}

}  // namespace kiln
