// AttemptWitness: notes how far an attempt at a session came before it lost its device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/session/session.hpp"

namespace kiln {

/// Hands everything on to `told`, which must outlive it.
class AttemptWitness : public SessionObserver {
 public:
  explicit AttemptWitness(SessionObserver& told) : told_(told) {}

  void begin_attempt() { started = tried = false; }

  void on_start(const SessionStart& start) override {
    started = true;
    session = start.id;
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

  bool started = false;   ///< the device was open and the session began
  bool tried = false;     ///< a trial was finished
  SessionId session = 0;  ///< of the last attempt that began; 0: none did

 private:
  SessionObserver& told_;
};

}  // namespace kiln
