// Repeats a session after a passing failure, with pauses, until the patience of the request ends.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/patience.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/transient_error.hpp"
#include "tuner/session/attempt_witness.hpp"

namespace kiln {
namespace {

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
    const double seconds = std::chrono::duration<double>(patience.longest).count();
    on_warning(fmt::format("{}; waiting, {:.0f} s at most", reason, seconds));
  }

 private:
  bool is_waiting_ = false;
};

bool is_session_stopped(const TuneRequest& request) {
  return request.options.stop != nullptr && request.options.stop->load();
}

/// Returns early when the session is to stop.
void pause_for(Clock::duration pause, const TuneRequest& request) {
  constexpr std::chrono::milliseconds kGlance{100};
  const auto until = Clock::now() + pause;
  while (!is_session_stopped(request) && Clock::now() < until)
    std::this_thread::sleep_for(std::min<Clock::duration>(kGlance, until - Clock::now()));
}

}  // namespace

std::string barren_attempts_text(const std::string& reason) {
  return fmt::format("{} times no trial came to its end: {}", kMaxBarrenAttempts, reason);
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
      if (!waits || left <= Clock::duration::zero() || is_session_stopped(request)) throw;
      witness.on_wait(error.reason(), patience);
      pause_for(std::min(pause, left), request);
      if (is_session_stopped(request)) throw;
      pause = std::min<Clock::duration>(2 * pause, patience.longest_pause);
    }
  }
}

}  // namespace kiln
