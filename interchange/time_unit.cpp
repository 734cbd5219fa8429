// SPDX-License-Identifier: Apache-2.0
#include "interchange/time_unit.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "interchange/json_reading.hpp"
#include "interchange/words.hpp"

namespace kiln::interchange {
namespace {

// In small letters, without the plural.
constexpr std::array<std::pair<std::string_view, double>, 33> kUnits = {{
    {"s", 1e9},          {"sec", 1e9},         {"second", 1e9},    {"ms", 1e6},
    {"msec", 1e6},       {"milli", 1e6},       {"millisec", 1e6},  {"millisecond", 1e6},
    {"milisecond", 1e6}, {"us", 1e3},          {"usec", 1e3},      {"micro", 1e3},
    {"microsec", 1e3},   {"microsecond", 1e3}, {"\xC2\xB5s", 1e3}, {"\xC2\xB5sec", 1e3},
    {"\xCE\xBCs", 1e3},  {"\xCE\xBCsec", 1e3}, {"\xC2\xB5", 1e3},  {"\xCE\xBC", 1e3},
    {"ns", 1},           {"nsec", 1},          {"nano", 1},        {"nanosec", 1},
    {"nanosecond", 1},   {"ps", 1e-3},         {"psec", 1e-3},     {"picosecond", 1e-3},
    {"min", 60e9},       {"minute", 60e9},     {"h", 3600e9},      {"hour", 3600e9},
    {"mus", 1e3},
}};

std::optional<double> find_unit(std::string_view unit) {
  const auto* const known = std::find_if(kUnits.begin(), kUnits.end(),
                                         [&](const auto& entry) { return entry.first == unit; });
  if (known == kUnits.end()) return std::nullopt;
  return known->second;
}

}  // namespace

std::optional<double> nanoseconds_of_unit(std::string_view unit) {
  std::string small = small_letters(unit);
  std::erase_if(small, [](char c) { return c == ' ' || c == '_' || c == '-' || c == '.'; });
  if (const auto known = find_unit(small)) return known;
  if (small.size() > 2 && small.back() == 's') return find_unit(small.substr(0, small.size() - 1));
  return std::nullopt;
}

std::optional<double> stated_unit(const nlohmann::ordered_json& holder, const std::string& path) {
  for (const char* key : {"timeunit", "time_unit", "timeUnit", "TimeUnit"}) {
    const auto* member = find_member(holder, key);
    if (member == nullptr) continue;
    const std::string unit = member->is_string() ? member->get<std::string>() : shown(member);
    if (unit.empty()) continue;
    if (const auto ns = nanoseconds_of_unit(unit)) return ns;
    throw InputError({path, 0, 0},
                     fmt::format("expected \"{}\" to be {}, not '{}'", key, kTimeUnits, unit));
  }
  return std::nullopt;
}

}  // namespace kiln::interchange
