// JSON to core values: strict, since messages of workers and database columns are our own.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"

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

template <typename T>
void get(const Json& json, const char* key, T& out) {
  json.at(key).get_to(out);
}

// The enumerator that a text names, by the `parse` function of its type.
template <typename Parse>
auto get_named(const Json& json, const char* key, Parse&& parse) {
  const std::string& name = json.at(key).get_ref<const std::string&>();
  const auto value = parse(name);
  if (!value) throw InputError("malformed JSON: '" + name + "' is no " + key);
  return *value;
}

std::optional<Access> parse_access(std::string_view name) {
  for (const Access access : {Access::read, Access::write, Access::read_write, Access::scalar}) {
    if (name_of(access) == name) return access;
  }
  return std::nullopt;
}

std::optional<StepKind> parse_step_kind(std::string_view name) {
  if (name == "launch") return StepKind::launch;
  if (name == "clear") return StepKind::clear;
  return std::nullopt;
}

BufferPlan buffer_from_json(const Json& json) {
  BufferPlan buffer;
  get(json, "name", buffer.name);
  buffer.dtype = get_named(json, "dtype", parse_dtype);
  get(json, "shape", buffer.shape);
  get(json, "count", buffer.count);
  buffer.access = get_named(json, "access", parse_access);
  get(json, "workspace", buffer.workspace);
  get(json, "zeroed", buffer.zeroed);
  return buffer;
}

ScalarPlan scalar_from_json(const Json& json) {
  ScalarPlan scalar;
  get(json, "name", scalar.name);
  scalar.dtype = get_named(json, "dtype", parse_dtype);
  scalar.value = value_from_json(json.at("value"));
  get(json, "from_caller", scalar.from_caller);
  return scalar;
}

TensorMapPlan tensor_map_from_json(const Json& json) {
  TensorMapPlan map;
  get(json, "name", map.name);
  get(json, "buffer", map.buffer);
  map.dtype = get_named(json, "dtype", parse_dtype);
  get(json, "offset_bytes", map.offset_bytes);
  get(json, "shape", map.shape);
  get(json, "stride_bytes", map.stride_bytes);
  get(json, "box", map.box);
  get(json, "lower", map.lower);
  get(json, "upper", map.upper);
  get(json, "element_strides", map.element_strides);
  get(json, "swizzle_bytes", map.swizzle_bytes);
  get(json, "promotion_bytes", map.promotion_bytes);
  get(json, "fill_nan", map.fill_nan);
  get(json, "to_tf32", map.to_tf32);
  return map;
}

StepPlan step_from_json(const Json& json) {
  StepPlan step;
  step.kind = get_named(json, "kind", parse_step_kind);
  get(json, "entry", step.entry);
  get(json, "grid", step.grid);
  get(json, "block", step.block);
  get(json, "cluster", step.cluster);
  get(json, "shared_bytes", step.shared_bytes);
  get(json, "programmatic", step.programmatic);
  get(json, "arguments", step.arguments);
  get(json, "constants", step.constants);
  get(json, "buffer", step.buffer);
  return step;
}

}  // namespace

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
    get(json, "variant", config.variant);
    for (const auto& [name, value] : json.at("tunables").items()) {
      config.values.emplace_back(name, value_from_json(value));
    }
    return config;
  });
}

DeviceInfo device_from_json(const Json& json) {
  return checked_object("device", [&] {
    DeviceInfo device;
    get(json, "backend", device.backend);
    get(json, "ordinal", device.ordinal);
    get(json, "name", device.name);
    get(json, "vendor", device.vendor);
    get(json, "architecture", device.architecture);
    get(json, "driver", device.driver);
    get(json, "compiler", device.compiler);
    get(json, "runtime", device.runtime);
    get(json, "compute_units", device.compute_units);
    get(json, "compute_capability", device.compute_capability);
    get(json, "warp_size", device.warp_size);
    get(json, "max_threads_per_block", device.max_threads_per_block);
    get(json, "max_block", device.max_block);
    get(json, "max_grid", device.max_grid);
    get(json, "max_shared_bytes", device.max_shared_bytes);
    get(json, "max_shared_bytes_optin", device.max_shared_bytes_optin);
    get(json, "shared_bytes_per_unit", device.shared_bytes_per_unit);
    get(json, "registers_per_block", device.registers_per_block);
    get(json, "max_threads_per_unit", device.max_threads_per_unit);
    get(json, "l2_bytes", device.l2_bytes);
    get(json, "global_bytes", device.global_bytes);
    get(json, "clock_khz", device.clock_khz);
    get(json, "memory_clock_khz", device.memory_clock_khz);
    get(json, "memory_bus_bits", device.memory_bus_bits);
    get(json, "has_f16", device.has_f16);
    get(json, "has_f64", device.has_f64);
    get(json, "has_shuffle", device.has_shuffle);
    get(json, "has_f32_atomic_add", device.has_f32_atomic_add);
    get(json, "is_cpu", device.is_cpu);
    if (json.contains("last_level_bytes")) get(json, "last_level_bytes", device.last_level_bytes);
    if (json.contains("partition")) get(json, "partition", device.partition);
    return device;
  });
}

Trial trial_from_json(const Json& json) {
  return checked_object("trial", [&] {
    Trial trial;
    read_field(json, trial);
    return trial;
  });
}

Source source_from_json(const Json& json) {
  return checked_object("source", [&] {
    Source source;
    get(json, "name", source.name);
    get(json, "text", source.text);
    get(json, "entries", source.entries);
    get(json, "has_cpp_names", source.has_cpp_names);
    get(json, "options", source.options);
    get(json, "origins", source.origins);
    return source;
  });
}

LaunchPlan plan_from_json(const Json& json) {
  return checked_object("launch plan", [&] {
    LaunchPlan plan;
    for (const Json& buffer : json.at("buffers")) plan.buffers.push_back(buffer_from_json(buffer));
    for (const Json& scalar : json.at("scalars")) plan.scalars.push_back(scalar_from_json(scalar));
    for (const Json& map : json.at("tensor_maps")) {
      plan.tensor_maps.push_back(tensor_map_from_json(map));
    }
    for (const Json& step : json.at("steps")) plan.steps.push_back(step_from_json(step));
    return plan;
  });
}

}  // namespace kiln
