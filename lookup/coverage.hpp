// Coverage: what an application's recorded calls ran with, and what tuning the rest would be worth.
//
// Pure: works on rows already read. All times are estimates from the rows: a tuned problem
// has its own times; another has those of the nearest tuned problem, scaled by the spec's [cost].
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/spec.hpp"
#include "db/records.hpp"
#include "lookup/call_records.hpp"

namespace kiln {

struct CallEstimate {
  std::optional<double> best_ns;   ///< time of one call with the best config
  std::optional<double> slowdown;  ///< of the config that ran, as a multiple of best_ns
  bool is_tuned_now = false;       ///< there is a best of this very problem on its device
  std::string unknown;             ///< why there is no estimate; empty: there is one

  /// Nanoseconds of all calls as they ran; 0 if not known.
  [[nodiscard]] double ran_ns(const CallRecord& calls) const;
  /// Nanoseconds that the best config would save; 0 if not known.
  [[nodiscard]] double worth_ns(const CallRecord& calls) const;
};

/// `rows`: bests of any kernel and device. Never throws for what a record holds.
[[nodiscard]] CallEstimate estimate_calls(const KernelSpec& spec, const CallRecord& calls,
                                          std::span<const BestRecord> rows);

}  // namespace kiln
