// The numbers of a report, as report/page.js reads them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/report/report.hpp"
#include "cli/text_files.hpp"
#include "core/errors.hpp"
#include "core/input_file.hpp"

namespace kiln::cli {
namespace {

std::string rate_text(double per_s, const char* unit) {
  constexpr double kTera = 1e12;
  constexpr double kGiga = 1e9;
  return per_s >= kTera ? fmt::format("{:.3g} T{}", per_s / kTera, unit)
                        : fmt::format("{:.3g} G{}", per_s / kGiga, unit);
}

/// What the device's own facts say of its memory: two transfers a clock on every line of the bus.
std::vector<ReportedCeiling> ceilings_by_facts(const DeviceInfo& device) {
  if (device.memory_clock_khz <= 0 || device.memory_bus_bits <= 0) return {};
  const double bytes_per_s = 2e3 * static_cast<double>(device.memory_clock_khz) *
                             static_cast<double>(device.memory_bus_bits) / 8;
  return {ceiling_of("memory by clock and bus", "memory", bytes_per_s)};
}

enum class Roofs { own, all };

/// Of the session's device; `all`: with the arithmetic of every session.
Json ceilings_json(const Report& report, const ReportedSession& session, Roofs which) {
  const DeviceInfo& device = session.shown.record.device_info;
  std::vector<ReportedCeiling> all = report.measured;
  for (const ReportedSession& each : report.sessions) {
    const bool is_wanted = which == Roofs::all || &each == &session;
    const bool is_new =
        each.arithmetic && std::none_of(all.begin(), all.end(), [&](const auto& known) {
          return known.name == each.arithmetic->name;
        });
    if (is_wanted && is_new) all.push_back(*each.arithmetic);
  }
  for (ReportedCeiling& each : ceilings_by_facts(device)) all.push_back(std::move(each));
  Json json = Json::array();
  for (const ReportedCeiling& each : all)
    json.push_back({{"name", each.name}, {"kind", each.kind}, {"per_s", each.per_s}});
  return json;
}

Json reported_session_json(const Report& report, const ReportedSession& session) {
  const ShownSession& shown = session.shown;
  Json json = record_json(shown.record);
  json.update(answer_json(shown));
  json["name"] = name_of(session);
  json["label"] = label_of(report, session);
  json["ceilings"] = ceilings_json(report, session, Roofs::own);
  if (session.has_trials) json.update(trial_columns_json(shown.trials));
  return json;
}

Json pair_json(const Report& report, const ReportedPair& pair) {
  Json common = Json::array();
  for (const CommonConfig& each : pair.common)
    common.push_back({{"config", each.config}, {"a_ns", each.a_ns}, {"b_ns", each.b_ns}});
  return {{"name", name_of(report.sessions[pair.a])},
          {"a", pair.a},
          {"b", pair.b},
          {"ratio", pair.ratio},
          {"low", pair.low ? Json(*pair.low) : Json(nullptr)},
          {"high", pair.high ? Json(*pair.high) : Json(nullptr)},
          {"faster", pair.faster},
          {"same", pair.same_config},
          {"common", std::move(common)}};
}

}  // namespace

ReportedCeiling ceiling_of(const std::string& what, const std::string& kind, double per_s) {
  const char* unit = kind == "memory" ? "B/s" : "FLOP/s";
  return {what + ": " + rate_text(per_s, unit), kind, per_s};
}

std::string name_of(const ReportedSession& session) {
  return session.shown.record.key.kernel + " " + session.shown.problem;
}

std::string label_of(const Report& report, const ReportedSession& session) {
  // The same number may be a session of both databases.
  const bool has_side = report.sides.size() == 2 && session.side < 2 && !report.sides_are_sessions;
  return fmt::format("{}{}: {}", has_side ? report.sides[session.side] + ", " : "",
                     session.shown.record.id, name_of(session));
}

std::vector<ReportedCeiling> read_ceilings(const std::filesystem::path& path) {
  const std::string expected = "what `kiln sweep --ceilings --json` prints";
  const Json json = Json::parse(read_input(path, {expected, 16 * kMiB}), nullptr, false);
  if (!json.is_object() || !json.contains("ceilings") || !json["ceilings"].is_object()) {
    throw InputError(fmt::format("{}: has no ceilings; expected {}", path.string(), expected));
  }
  std::vector<ReportedCeiling> found;
  const auto add = [&](const char* key, const char* what, const char* kind) {
    const auto value = json["ceilings"].find(key);
    if (value == json["ceilings"].end() || !value->is_number()) return;
    if (value->get<double>() > 0) found.push_back(ceiling_of(what, kind, value->get<double>()));
  };
  add("read_bytes_per_s", "read, measured", "memory");
  add("copy_bytes_per_s", "copy, measured", "memory");
  add("f32_flops", "f32, measured", "compute");
  add("f64_flops", "f64, measured", "compute");
  return found;
}

Json report_json(const Report& report) {
  Json sessions = Json::array();
  for (const ReportedSession& session : report.sessions)
    sessions.push_back(reported_session_json(report, session));
  Json pairs = Json::array();
  for (const ReportedPair& pair : report.pairs) pairs.push_back(pair_json(report, pair));
  return {{"sessions", std::move(sessions)},
          {"sides", report.sides},
          {"pairs", std::move(pairs)},
          {"ceilings", ceilings_json(report, report.sessions.back(), Roofs::all)}};
}

}  // namespace kiln::cli
