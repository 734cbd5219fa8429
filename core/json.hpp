// JSON forms of the core values: worker messages, --json output and database columns share them.
// Structs with visit_fields() have theirs in core/field_json.hpp; that of a device, here, leaves
// out what few devices have.
//
// from_json of a malformed text throws InputError. Values keep their type (integers stay integers).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/problem.hpp"

namespace kiln {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const Value& value);
[[nodiscard]] Json to_json(const Config& config);    ///< {"variant": ..., "tunables": {...}}
[[nodiscard]] Json to_json(const Problem& problem);  ///< {"m": 512, ...}
[[nodiscard]] Json to_json(const DeviceInfo& device);

[[nodiscard]] Value value_from_json(const Json& json);
[[nodiscard]] Config config_from_json(const Json& json);
[[nodiscard]] DeviceInfo device_from_json(const Json& json);

}  // namespace kiln
