// TimeUse: how a search spent its time: who worked and who waited.
//
// The pipeline and the session add it up while they run. The evidence of the best (db/evidence.hpp)
// stores it. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/fields.hpp"

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

/// Calls `visit(name, field)` for each field (core/fields.hpp).
template <IsA<TimeUse> T, typename Visit>
void visit_fields(T& use, Visit&& visit) {
  visit("ask_s", use.ask);
  visit("compile_s", use.compile);
  visit("compile_workers", use.compile_workers);
  visit("device_no_binary_s", use.device_no_binary);
  visit("device_s", use.device);
  visit("device_supervisor_s", use.device_supervisor);
  visit("gpu_plain_s", use.gpu_plain);
  visit("gpu_runs_s", use.gpu_runs);
  visit("measure_s", use.measure);
  visit("prepare_s", use.prepare);
  visit("render_s", use.render);
  visit("search_s", use.search);
  visit("store_s", use.store);
  visit("tell_s", use.tell);
  visit("verify_s", use.verify);
}

}  // namespace kiln
