// Lets a session survive passing trouble: it waits for the device, or for room on the disk, and
// goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "tuner/session/session.hpp"

namespace kiln {

struct Patience {
  /// The longest wait; 0: no waiting.
  std::chrono::milliseconds longest{std::chrono::hours(1)};
  /// The pause before the first new attempt; it doubles before each further one ...
  std::chrono::milliseconds first_pause{1000};
  std::chrono::milliseconds longest_pause{60000};  ///< ... up to this
  /// Whether a device that went away is waited for. Clear it where another device may go on.
  bool for_device = true;
};

/// A session that loses its device this many times in a row without a trial is the cause itself.
inline constexpr int kMaxBarrenAttempts = 3;

/// Why such a session is given up. `reason` is that of the last loss.
[[nodiscard]] std::string barren_attempts_text(const std::string& reason);

/// Opens a store for writing. A file that another program has locked is tried again for as long as
/// `patience` allows, or until `stop` is set; `warn` is called before the first pause. Throws as
/// the constructor of Store.
[[nodiscard]] Store open_patiently(const std::filesystem::path& place, const Patience& patience,
                                   const std::atomic<bool>* stop,
                                   const std::function<void(const std::string&)>& warn);

/// Calls tune(), again after a TransientError. Warns the observer when the waiting begins and ends.
/// Waiting does not count as time of the session.
///
/// Throws as tune() does. TransientError: the trouble lasted longer than `patience` allows, or
/// request.options.stop was set meanwhile. Error (exit code 1): three times the session went on and
/// lost the device before a single trial, so the session itself is the cause.
[[nodiscard]] SessionResult tune_patiently(TuneRequest request, Store& store,
                                           SessionObserver& observer,
                                           const Patience& patience = {});

}  // namespace kiln
