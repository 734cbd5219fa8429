// Trials that stay valid after an edit of the spec: their kernels are rendered and launched as
// before.
//
// The text of a spec changes with every comment. A measurement depends on the rendered source, its
// launches, the computation and its checks, and on device, driver, compiler and options. If all of
// these are the same, the config is not measured again.
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

/// "naive:1a2b...,tiled:3c4d...": launch_hash of each variant, for session_option::kLaunches.
[[nodiscard]] std::string launches_text(const KernelSpec& spec);

struct EarlierTrials {
  SessionId session = 0;      ///< 0: there is none
  int ordinal = 0;            ///< of the device that ran it
  std::vector<Trial> trials;  ///< as they were stored, in their order
  std::int64_t others = 0;    ///< of that session: what was measured has changed, or is gone
};

/// Returns the valid trials of the newest session whose key differs from `key` only by the spec's
/// text. Leaves out outcomes that may have had a passing cause (deadlines, faults, memory), and all
/// trials of programs ([command]), since a spec does not list what their builds read. Renders each
/// config.
[[nodiscard]] EarlierTrials earlier_trials(const Store& store, const SessionKey& key,
                                           const Setting& setting, const Space& space);

}  // namespace kiln
