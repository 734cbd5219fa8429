// Writing the report, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
          fmt::format("{:.2f}", row.kiln_us),
          fmt::format("{:.2f}", row.peer_us),
          rate_text(row, row.kiln_us),
          rate_text(row, row.peer_us),
          fmt::format("{:.2f}x", row.peer_us / row.kiln_us),
          row.grade,
          !row.compared          ? "-"
          : row.agreement.agrees ? "yes"
                                 : "NO: " + row.agreement.detail};
}

}  // namespace

std::string table_text(const Report& report) {
  std::vector<std::vector<std::string>> lines = {{"problem", "peer", "Kiln us", "peer us",
                                                  "Kiln rate", "peer rate", "speed-up", "match",
                                                  "agree"}};
  for (const Row& row : report.rows) lines.push_back(cells_of(row));
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text =
      fmt::format("{}, driver {}; medians of {} {} samples, interleaved\n\n", report.device,
                  report.driver, report.timing.samples, report.timing.cold ? "cold" : "warm");
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool is_number = i >= 2 && i <= 6;
      text += is_number ? fmt::format("{:>{}}  ", line[i], widths[i])
                        : fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  for (const Missing& missing : report.missing)
    text += fmt::format("{}: {}\n", missing.problem, missing.reason);
  return text;
}

std::string json_text(const Report& report) {
  nlohmann::json json = {{"device", report.device},          {"driver", report.driver},
                         {"samples", report.timing.samples}, {"cold_cache", report.timing.cold},
                         {"rows", nlohmann::json::array()},  {"missing", nlohmann::json::array()}};
  for (const Row& row : report.rows) {
    json["rows"].push_back({{"problem", row.problem},
                            {"peer", row.peer},
                            {"config", row.config},
                            {"grade", row.grade},
                            {"kiln_us", row.kiln_us},
                            {"peer_us", row.peer_us},
                            {"speed_up", row.peer_us / row.kiln_us},
                            {"bytes", row.bytes},
                            {"flops", row.flops},
                            {"compared", row.compared},
                            {"agrees", row.agreement.agrees},
                            {"agreement", row.agreement.detail},
                            {"kiln_samples_us", row.kiln_samples},
                            {"peer_samples_us", row.peer_samples}});
  }
  for (const Missing& missing : report.missing) {
    json["missing"].push_back({{"problem", missing.problem}, {"reason", missing.reason}});
  }
  return json.dump(2) + "\n";
}

}  // namespace kiln::peers
