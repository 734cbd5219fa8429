// SPDX-License-Identifier: Apache-2.0
#include "db/trial_fields.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "core/field_json.hpp"
#include "core/json_line.hpp"
#include "core/json_text.hpp"

namespace kiln {
namespace {

// By table. Nothing is ever added: a new field has no column.
constexpr auto kFieldsWithColumn = std::to_array<std::string_view>(
    {"config", "outcome", "message", "time_ns", "max_error", "registers", "spill_bytes",
     "shared_bytes", "source_key", "render_ns", "compile_ns", "verify_ns", "measure_ns",
     // samples
     "ns", "cold_cache", "batch", "clock_khz_before", "clock_khz_after", "throttled",
     "dropped_early",
     // conditions
     "memory_clock_khz", "temperature_c", "power_mw", "throttle",
     // A table of its own.
     "metrics"});

bool has_column(std::string_view name) {
  return std::find(kFieldsWithColumn.begin(), kFieldsWithColumn.end(), name) !=
         kFieldsWithColumn.end();
}

/// Calls `visit(name, field)` for each field without a column, those of nested structs included.
template <typename T, typename Visit>
void visit_without_column(T& value, const Visit& visit) {
  visit_fields(value, [&](const char* name, auto& field) {
    if constexpr (HasFields<std::remove_reference_t<decltype(field)>>) {
      visit_without_column(field, visit);
    } else if (!has_column(name)) {
      visit(name, field);
    }
  });
}

Json fields_without_column(const Trial& trial) {
  Json json = Json::object();
  visit_without_column(
      trial, [&](const char* name, const auto& field) { json[name] = field_json(field); });
  return json;
}

}  // namespace

std::string trial_fields_text(const Trial& trial) {
  static const Json kDefaults = fields_without_column(Trial());
  Json json = fields_without_column(trial);
  for (const auto& [name, value] : kDefaults.items()) {
    if (json[name] == value) json.erase(name);
  }
  return json_text(json);
}

void read_trial_fields(const std::string& text, Trial& trial) {
  if (text == "{}") return;
  const Json json = Json::parse(text);
  visit_without_column(trial, [&](const char* name, auto& field) {
    if (json.contains(name)) read_field(json.at(name), field);
  });
}

}  // namespace kiln
