// SPDX-License-Identifier: Apache-2.0
#include "cli/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace kiln::cli {
namespace {

// From here on three digits without decimals round up to four.
constexpr double kNextUnit = 999.5;

// Three significant digits without an exponent: 4.26, 27.5, 812.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace

std::string pretty_time(double nanoseconds) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (nanoseconds >= kNextUnit && unit + 1 < kUnits.size()) {
    nanoseconds /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(nanoseconds), kUnits[unit]);
}

std::string time_or_dash(double nanoseconds) {
  return nanoseconds > 0 ? pretty_time(nanoseconds) : "-";
}

std::string pretty_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

bool is_arithmetic(double bytes, double flops) { return flops > 4 * bytes; }

std::string pretty_rate(double bytes, double flops, double nanoseconds) {
  if (nanoseconds <= 0 || (bytes <= 0 && flops <= 0)) return "-";
  constexpr std::array<const char*, 4> kPrefixes = {"K", "M", "G", "T"};
  const bool arithmetic = is_arithmetic(bytes, flops);
  double rate = (arithmetic ? flops : bytes) / nanoseconds * 1e6;  // in thousands a second
  std::size_t prefix = 0;
  while (rate >= kNextUnit && prefix + 1 < kPrefixes.size()) {
    rate /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", three_digits(rate), kPrefixes[prefix],
                     arithmetic ? "FLOP/s" : "B/s");
}

std::string pretty_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string pretty_speedup(double baseline_ns, double time_ns) {
  if (baseline_ns <= 0 || time_ns <= 0) return "-";
  return three_digits(baseline_ns / time_ns) + "x";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace kiln::cli
