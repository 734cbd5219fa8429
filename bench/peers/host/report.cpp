// Writes the rows as a table and as JSON, under a head that names the device and the versions.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/peers/host/family_report.hpp"
#include "bench/peers/host/table.hpp"

namespace kiln::peers {
namespace {

/// Arithmetic is what limits a problem with many operations for each byte.
bool is_arithmetic(const Row& row) { return row.flops > 16 * row.bytes; }

/// "3.94 TB/s" or "41.2 TFLOP/s" at this time.
std::string rate_text(const Row& row, double us) {
  const bool arithmetic = is_arithmetic(row);
  const double rate = (arithmetic ? row.flops : row.bytes) / (us * 1e-6);
  if (rate >= 1e12) return fmt::format("{:.2f} {}", rate * 1e-12, arithmetic ? "TFLOP/s" : "TB/s");
  return fmt::format("{:.1f} {}", rate * 1e-9, arithmetic ? "GFLOP/s" : "GB/s");
}

std::vector<std::string> cells_of(const Row& row) {
  return {row.problem,
          row.peer,
          name_of(row.cache),
          fmt::format("{:.2f}", row.kiln_us),
          fmt::format("{:.2f}", row.peer_us),
          rate_text(row, row.kiln_us),
          rate_text(row, row.peer_us),
          fmt::format("{:.2f}x", row.speed_up()),
          row.grade,
          !row.compared          ? "-"
          : row.agreement.agrees ? "yes"
                                 : "NO: " + row.agreement.detail};
}

std::string row_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) cells.push_back(cells_of(row));
  return aligned({{"problem"},
                  {"peer"},
                  {"cache"},
                  {"Kiln us", true},
                  {"peer us", true},
                  {"Kiln rate", true},
                  {"peer rate", true},
                  {"speed-up", true},
                  {"match"},
                  {"agree"}},
                 cells);
}

nlohmann::json error_json(const std::optional<ProductError>& error) {
  if (!error) return nullptr;
  return {{"relative", error->relative}, {"largest", error->largest}};
}

std::string role_text(Role role) {
  if (role == Role::only) return "only";
  return role == Role::first ? "first" : "best";
}

nlohmann::json row_json(const Row& row) {
  nlohmann::json json = {{"number", row.number},
                         {"problem", row.problem},
                         {"peer", row.peer},
                         {"config", row.config},
                         {"grade", row.grade},
                         {"cache", name_of(row.cache)},
                         {"samples", row.kiln_samples.size()},
                         {"kiln_us", row.kiln_us},
                         {"peer_us", row.peer_us},
                         {"speed_up", row.speed_up()},
                         {"bytes", row.bytes},
                         {"flops", row.flops},
                         {"kiln_tflops", row.flops / row.kiln_us * 1e-6},
                         {"compared", row.compared},
                         {"agrees", row.agreement.agrees},
                         {"agreement", row.agreement.detail},
                         {"kiln_error", error_json(row.kiln_error)},
                         {"peer_error", error_json(row.peer_error)},
                         {"role", role_text(row.role)}};
  if (row.choice) {
    json["library"] = row.choice->family;
    json["algorithm"] = row.choice->detail;
    json["algorithm_number"] = row.choice->index + 1;
    json["algorithms_us"] = row.family_us;
  }
  return json;
}

bool any_cold(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.cache == CacheMode::cold; });
}

std::string head_text(const Report& report) {
  return fmt::format("{}, driver {}{}{}; medians of at most {} samples, interleaved\n\n",
                     report.device, report.driver, report.libraries.empty() ? "" : ", ",
                     report.libraries, report.timing.samples);
}

}  // namespace

std::string report_text(const Report& report) {
  std::string text = head_text(report) + row_table(report.rows);
  const std::string families = family_table(report.rows);
  if (!families.empty()) {
    text +=
        "\nProducts; over: the library's time over Kiln's; error: the norm of the difference "
        "from the product in f64, over that product's norm\n\n";
    text += families + "\n" + family_summary(report.rows);
  }
  for (const Missing& missing : report.missing)
    text += fmt::format("{}: {}\n", missing.problem, missing.reason);
  return text;
}

std::string json_text(const Report& report) {
  nlohmann::json json = {{"device", report.device},
                         {"driver", report.driver},
                         {"libraries", report.libraries},
                         {"samples", report.timing.samples},
                         {"cold_cache", any_cold(report.rows)},
                         {"rows", nlohmann::json::array()},
                         {"missing", nlohmann::json::array()}};
  for (const Row& row : report.rows) {
    nlohmann::json one = row_json(row);
    one["kiln_samples_us"] = row.kiln_samples;
    one["peer_samples_us"] = row.peer_samples;
    json["rows"].push_back(std::move(one));
  }
  for (const Missing& missing : report.missing) {
    json["missing"].push_back({{"problem", missing.problem}, {"reason", missing.reason}});
  }
  return json.dump(2) + "\n";
}

std::string json_line(const Row& row) { return row_json(row).dump() + "\n"; }

}  // namespace kiln::peers
