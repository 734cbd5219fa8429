// Waiting, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/patience.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/transient_error.hpp"

namespace kiln {
namespace {

// A session that loses its device so often without a trial in between is the cause itself.
constexpr int kMaxBarrenAttempts = 3;

/// Hands everything on, and notes what an attempt came to.
class AttemptWitness final : public SessionObserver {
 public:
  explicit AttemptWitness(SessionObserver& told) : told_(told) {}

  void begin_attempt() { started = tried = false; }

  void on_start(const SessionStart& start) override {
    if (std::exchange(is_waiting_, false)) told_.on_warning("the session goes on");
    started = true;
    told_.on_start(start);
  }
  void on_state(const std::string& activity, const SessionProgress& progress) override {
    told_.on_state(activity, progress);
  }
  void on_trial(const TrialRecord& record, const SessionProgress& progress) override {
    tried = true;
    told_.on_trial(record, progress);
  }
  void on_finals(const std::vector<Config>& finalists) override { told_.on_finals(finalists); }
  void on_warning(const std::string& message) override { told_.on_warning(message); }

  /// Before each pause; the first one is announced.
  void on_wait(const std::string& reason, const Patience& patience) {
    if (std::exchange(is_waiting_, true)) return;
    const double seconds = std::chrono::duration<double>(patience.longest).count();
    told_.on_warning(fmt::format("{}; waiting, {:.0f} s at most", reason, seconds));
  }

  bool started = false;
  bool tried = false;  ///< a trial was finished

 private:
  SessionObserver& told_;
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

SessionResult tune_patiently(TuneRequest request, Store& store, SessionObserver& observer,
                             const Patience& patience) {
  AttemptWitness witness(observer);
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
        throw Error(ExitCode::failed, fmt::format("{} times no trial came to its end: {}",
                                                  kMaxBarrenAttempts, error.reason()));
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
