// A session that outlives what passes: it waits for the device, or for room, and goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "tuner/session.hpp"

namespace kiln {

struct Patience {
  /// How long something may be missing; 0: no waiting.
  std::chrono::milliseconds longest{std::chrono::hours(1)};
  /// Before the first new attempt; doubled before each further one ...
  std::chrono::milliseconds first_pause{1000};
  std::chrono::milliseconds longest_pause{60000};  ///< ... up to this
};

/// tune(), called again after a TransientError; the observer is warned when the waiting begins and
/// when it ends. Time of waiting is no time of the session.
///
/// Throws as tune() does. TransientError: it lasted for longer than `patience` allows, or
/// request.options.stop was set meanwhile. Error (exit code 1): three times the session went on
/// and lost the device before a single trial, so it is the session that drives it away.
[[nodiscard]] SessionResult tune_patiently(TuneRequest request, Store& store,
                                           SessionObserver& observer,
                                           const Patience& patience = {});

}  // namespace kiln
