// TimeUse: how a search spent its time: who worked and who waited.
//
// The pipeline and the session add it up while they run. The evidence of the best (db/store.hpp)
// stores it under the key "time_use". Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// Seconds of one run's search. Device, compilers and supervisor work at the same time, so the
/// seconds of each add up to the whole search.
struct TimeUse {
  double search = 0;   ///< from the first config to the end of the last trial
  double prepare = 0;  ///< of that: until the device was ready for the first trial

  // The device.
  double device = 0;             ///< a config was with its worker, messages included
  double verify = 0;             ///< of that: load and checks
  double measure = 0;            ///< of that: warm-up and samples
  double device_no_binary = 0;   ///< nothing to do: no binary was ready
  double device_supervisor = 0;  ///< a binary was ready, the supervisor was busy elsewhere
  double gpu_runs = 0;           ///< runs of the configs that were ok, each with its median
  double gpu_plain = 0;          ///< 32 runs of each of these configs

  // The compile workers, added up over all of them.
  double compile = 0;
  std::int64_t compile_workers = 0;

  // The supervisor's thread.
  double ask = 0;     ///< the strategy is asked for configs
  double render = 0;  ///< launch plans and sources
  double store = 0;   ///< trials and attempts are committed
  double tell = 0;    ///< the strategy is told

  friend bool operator==(const TimeUse&, const TimeUse&) = default;
};

/// Adds `use` to `evidence` (JSON as in BestRecord).
[[nodiscard]] std::string with_time_use(const std::string& evidence, const TimeUse& use);

/// Returns nullopt if the evidence has no time use or cannot be read.
[[nodiscard]] std::optional<TimeUse> time_use_of(const std::string& evidence);

/// Returns it as the JSON object that `kiln tune --json` and `kiln show --json` print.
[[nodiscard]] std::string time_use_json(const TimeUse& use);

/// Returns text for people: one line for each of device, compilers, supervisor and GPU.
[[nodiscard]] std::vector<std::string> lines_of(const TimeUse& use);

}  // namespace kiln
