// Prepares a session: its strategy, the known configs and trials, its log, and the limits of its
// workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "search/space.hpp"
#include "search/strategy.hpp"
#include "tuner/session/earlier_trials.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/session_log.hpp"
#include "tuner/workers/compile_pool.hpp"
#include "tuner/workers/device_client.hpp"

namespace kiln {

/// The name that the options give, or that of the default strategy.
[[nodiscard]] std::string strategy_of(const TuneOptions& options);

/// Workers and memory are what the options say, or what suits the machine.
[[nodiscard]] CompilePool::Options compile_options(const TuneOptions& options,
                                                   const DeviceInfo& target);

/// Those of the options; a program ([command]) has the time that its spec gives it.
[[nodiscard]] DeviceDeadlines session_deadlines(const TuneRequest& request);

[[nodiscard]] std::unique_ptr<Strategy> new_strategy(const TuneOptions& options,
                                                     const Setting& setting, const Space& space);

/// Configs that the store and the shipped bests know of problems and devices around; without the
/// default config.
[[nodiscard]] std::vector<WarmConfig> find_warm_configs(const TuneOptions& options,
                                                        const Setting& setting, const Space& space,
                                                        const Store& store);

/// Trials of the session before an edit of the spec: as many as the budget has, the default config
/// among the first.
[[nodiscard]] EarlierTrials find_earlier_trials(const TuneRequest& request, const SessionLog& log,
                                                const Space& space, const Store& store);

[[nodiscard]] ProblemJob session_job(const TuneRequest& request, const Objective& objective);

/// Time never stands in for an energy that cannot be measured: throws DeviceError instead.
void require_meter(const Objective& objective, const TuneOptions& options,
                   const DeviceClient& device);

/// The log of the session that answers or goes on, or of a new one.
[[nodiscard]] std::unique_ptr<SessionLog> open_log(Store& store, const TuneRequest& request,
                                                   const Setting& setting, const Space& space,
                                                   const Scoring& scoring);

}  // namespace kiln
