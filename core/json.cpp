// Core values to JSON and back. Reading is strict: messages of workers and database columns are our
// own.
// SPDX-License-Identifier: Apache-2.0
#include "core/json.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"

namespace kiln {
namespace {

// Runs `read` and turns the JSON library's errors (missing key, wrong type) into InputError.
template <typename Read>
auto checked_object(std::string_view what, Read&& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw InputError("malformed JSON of a " + std::string(what) + ": " + error.what());
  }
}

}  // namespace

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const Config& config) {
  Json tunables = Json::object();
  for (const auto& [name, value] : config.values) tunables[name] = to_json(value);
  return {{"variant", config.variant}, {"tunables", std::move(tunables)}};
}

Json to_json(const Problem& problem) {
  Json fields = Json::object();
  for (const auto& [name, value] : problem.fields()) fields[name] = to_json(value);
  return fields;
}

Json to_json(const DeviceInfo& device) {
  Json json = field_json(device);
  // Only where there is something to say: other devices read as they always did.
  if (device.last_level_bytes == 0) json.erase("last_level_bytes");
  if (device.partition.empty()) json.erase("partition");
  return json;
}

Value value_from_json(const Json& json) {
  return checked_object("value", [&]() -> Value {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number_float()) return json.get<double>();
    return json.get<std::string>();
  });
}

Config config_from_json(const Json& json) {
  return checked_object("config", [&] {
    Config config;
    json.at("variant").get_to(config.variant);
    for (const auto& [name, value] : json.at("tunables").items()) {
      config.values.emplace_back(name, value_from_json(value));
    }
    return config;
  });
}

DeviceInfo device_from_json(const Json& json) {
  return checked_object("device", [&] {
    DeviceInfo device;
    visit_fields(device, [&](std::string_view name, auto& field) {
      const bool may_lack = name == "last_level_bytes" || name == "partition";
      if (!may_lack || json.contains(name)) read_field(json.at(name), field);
    });
    return device;
  });
}

}  // namespace kiln
