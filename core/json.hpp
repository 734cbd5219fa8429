// JSON forms of the core values: worker messages, --json output and database columns share them.
//
// from_json of a malformed text throws InputError. Values keep their type (integers stay integers).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/artifact.hpp"
#include "core/launch_plan.hpp"
#include "core/trial.hpp"

namespace kiln {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const Value& value);
[[nodiscard]] Json to_json(const Config& config);    ///< {"variant": ..., "tunables": {...}}
[[nodiscard]] Json to_json(const Problem& problem);  ///< {"m": 512, ...}
[[nodiscard]] Json to_json(const DeviceInfo& device);
[[nodiscard]] Json to_json(const Trial& trial);
[[nodiscard]] Json to_json(const Source& source);
[[nodiscard]] Json to_json(const LaunchPlan& plan);

[[nodiscard]] Value value_from_json(const Json& json);
[[nodiscard]] Config config_from_json(const Json& json);
[[nodiscard]] DeviceInfo device_from_json(const Json& json);
[[nodiscard]] Trial trial_from_json(const Json& json);
[[nodiscard]] Source source_from_json(const Json& json);
[[nodiscard]] LaunchPlan plan_from_json(const Json& json);

}  // namespace kiln
