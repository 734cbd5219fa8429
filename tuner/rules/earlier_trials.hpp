// Trials that outlive an edit of the spec: those of the session before the edit whose kernels, as
// rendered and launched, are what they were.
//
// The text of a spec changes with every comment. What was measured depends on the source that the
// compiler got, on how it is launched, on what is computed and checked, and on device, driver,
// compiler and options. A config for which all of these are the same is not measured again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "db/store.hpp"
#include "search/space.hpp"

namespace kiln {

/// Names the hashes of a session's launches, by variant, in SessionKey::options; stands last.
inline constexpr std::string_view kLaunchesOption = " launches=";

/// "naive:1a2b...,tiled:3c4d...": launch_hash of each variant.
[[nodiscard]] std::string launches_text(const KernelSpec& spec);

struct EarlierTrials {
  SessionId session = 0;      ///< 0: there is none
  int ordinal = 0;            ///< of the device that ran it
  std::vector<Trial> trials;  ///< as they were stored, in their order
  std::int64_t others = 0;    ///< of that session: what was measured has changed, or is gone
};

/// What holds of the newest session whose key differs from `key` by the spec's text alone. Trials
/// whose outcome may have had a passing cause (deadlines, faults, memory) are measured again, and
/// programs ([command]) are: a spec does not say what their builds read. Renders each config.
[[nodiscard]] EarlierTrials earlier_trials(const Store& store, const SessionKey& key,
                                           const Setting& setting, const Space& space);

}  // namespace kiln
