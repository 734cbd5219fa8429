// Core values to JSON. Reading them back is json_read.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/json.hpp"

#include <cmath>
#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "core/json_text.hpp"

namespace kiln {

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
  Json json = {
      {"backend", device.backend},
      {"ordinal", device.ordinal},
      {"name", valid_utf8(device.name)},
      {"vendor", valid_utf8(device.vendor)},
      {"architecture", valid_utf8(device.architecture)},
      {"driver", valid_utf8(device.driver)},
      {"compiler", valid_utf8(device.compiler)},
      {"runtime", valid_utf8(device.runtime)},
      {"compute_units", device.compute_units},
      {"compute_capability", device.compute_capability},
      {"warp_size", device.warp_size},
      {"max_threads_per_block", device.max_threads_per_block},
      {"max_block", device.max_block},
      {"max_grid", device.max_grid},
      {"max_shared_bytes", device.max_shared_bytes},
      {"max_shared_bytes_optin", device.max_shared_bytes_optin},
      {"shared_bytes_per_unit", device.shared_bytes_per_unit},
      {"registers_per_block", device.registers_per_block},
      {"max_threads_per_unit", device.max_threads_per_unit},
      {"l2_bytes", device.l2_bytes},
      {"global_bytes", device.global_bytes},
      {"clock_khz", device.clock_khz},
      {"memory_clock_khz", device.memory_clock_khz},
      {"memory_bus_bits", device.memory_bus_bits},
      {"has_f16", device.has_f16},
      {"has_f64", device.has_f64},
      {"has_shuffle", device.has_shuffle},
      {"has_f32_atomic_add", device.has_f32_atomic_add},
      {"is_cpu", device.is_cpu},
  };
  // Only where there is something to say: other devices read as they always did.
  if (device.last_level_bytes > 0) json["last_level_bytes"] = device.last_level_bytes;
  if (!device.partition.empty()) json["partition"] = valid_utf8(device.partition);
  return json;
}

Json to_json(const Trial& trial) { return field_json(trial); }

Json to_json(const Source& source) {
  return {{"name", source.name},       {"text", valid_utf8(source.text)},
          {"entries", source.entries}, {"has_cpp_names", source.has_cpp_names},
          {"options", source.options}, {"origins", source.origins}};
}

Json to_json(const LaunchPlan& plan) {
  Json buffers = Json::array();
  for (const BufferPlan& buffer : plan.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"dtype", name_of(buffer.dtype)},
                       {"shape", buffer.shape},
                       {"count", buffer.count},
                       {"access", name_of(buffer.access)},
                       {"workspace", buffer.workspace},
                       {"zeroed", buffer.zeroed}});
  }
  Json scalars = Json::array();
  for (const ScalarPlan& scalar : plan.scalars) {
    scalars.push_back({{"name", scalar.name},
                       {"dtype", name_of(scalar.dtype)},
                       {"value", to_json(scalar.value)},
                       {"from_caller", scalar.from_caller}});
  }
  Json steps = Json::array();
  for (const StepPlan& step : plan.steps) {
    steps.push_back({{"kind", step.kind == StepKind::launch ? "launch" : "clear"},
                     {"entry", step.entry},
                     {"grid", step.grid},
                     {"block", step.block},
                     {"cluster", step.cluster},
                     {"shared_bytes", step.shared_bytes},
                     {"programmatic", step.programmatic},
                     {"arguments", step.arguments},
                     {"constants", step.constants},
                     {"buffer", step.buffer}});
  }
  Json maps = Json::array();
  for (const TensorMapPlan& map : plan.tensor_maps) {
    maps.push_back({{"name", map.name},
                    {"buffer", map.buffer},
                    {"dtype", name_of(map.dtype)},
                    {"offset_bytes", map.offset_bytes},
                    {"shape", map.shape},
                    {"stride_bytes", map.stride_bytes},
                    {"box", map.box},
                    {"lower", map.lower},
                    {"upper", map.upper},
                    {"element_strides", map.element_strides},
                    {"swizzle_bytes", map.swizzle_bytes},
                    {"promotion_bytes", map.promotion_bytes},
                    {"fill_nan", map.fill_nan},
                    {"to_tf32", map.to_tf32}});
  }
  return {{"buffers", std::move(buffers)},
          {"scalars", std::move(scalars)},
          {"tensor_maps", std::move(maps)},
          {"steps", std::move(steps)}};
}

}  // namespace kiln
