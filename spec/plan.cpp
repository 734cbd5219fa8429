// SPDX-License-Identifier: Apache-2.0
#include "spec/plan.hpp"

#include <fmt/format.h>

#include "spec/table_reader.hpp"

namespace kiln {
namespace {

double positive_number(const TableReader& table, std::string_view key, const Value& value) {
  constexpr double kYear = 31536000;  // seconds
  const bool number =
      std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
  if (!number || !(as_double(value) > 0)) {
    table.fail(key, fmt::format("'{}' must be a number above 0, not '{}'", key, to_text(value)));
  }
  if (as_double(value) > kYear) {
    table.fail(key, fmt::format("'{}' must be a year at most, {:.0f}, not '{}'", key, kYear,
                                to_text(value)));
  }
  return as_double(value);
}

std::optional<std::int64_t> whole_number(const TableReader& table, std::string_view key,
                                         std::int64_t least) {
  const std::optional<Value> value = table.value(key);
  if (!value) {
    return std::nullopt;
  }
  const auto* number = std::get_if<std::int64_t>(&*value);
  if (number == nullptr || *number < least) {
    table.fail(key, fmt::format("'{}' must be a whole number of {} or more, not '{}'", key, least,
                                to_text(*value)));
  }
  return *number;
}

// What `table` says, over what `defaults` say.
SearchSettings parse_settings(const TableReader& table, const SearchSettings& defaults) {
  SearchSettings settings = defaults;
  if (const std::optional<Value> seconds = table.value("seconds")) {
    settings.seconds = positive_number(table, "seconds", *seconds);
  }
  if (const auto trials = whole_number(table, "trials", 1)) {
    settings.trials = trials;
  }
  if (const auto no_progress = whole_number(table, "no_progress", 1)) {
    settings.no_progress = no_progress;
  }
  if (const std::optional<Value> target = table.value("target")) {
    settings.target = positive_number(table, "target", *target);
    if (*settings.target <= 1) {
      table.fail("target", fmt::format("'target' is a speed-up over the default config, above 1, "
                                       "not '{}'",
                                       to_text(*target)));
    }
  }
  if (const auto seed = whole_number(table, "seed", 0)) {
    settings.seed = static_cast<std::uint64_t>(*seed);
  }
  if (table.find("strategy") != nullptr) {
    settings.strategy = table.text("strategy");
  }
  if (table.find("objective") != nullptr) {
    settings.objective = table.text("objective");
  }
  if (table.find("variants") != nullptr) {
    settings.variants = table.texts("variants");
  }
  for (const char* key : {"strategy", "objective", "variants"}) {
    if (const TomlNode* node = table.find(key)) settings.places[key] = node->text_where;
  }
  if (table.find("timing") != nullptr) {
    settings.timing = parse_timing(table.text("timing"));
    if (!settings.timing) {
      table.fail("timing", fmt::format("'timing' must be \"eager\" or \"graph\", not '{}'",
                                       table.text("timing")));
    }
  }
  return settings;
}

}  // namespace

SweepPlan parse_plan(const std::string& text, const std::string& path) {
  const TomlNode root = parse_toml(text, path);
  if (root.find("variants") != nullptr || root.find("arguments") != nullptr) {
    const std::size_t slash = path.rfind('/');
    throw InputError(SourceLocation{path, 0, 0},
                     fmt::format("is the spec of a kernel, not a plan; expected kiln tune {}",
                                 slash == std::string::npos ? "." : path.substr(0, slash)));
  }
  const TableReader plan_table(root, "the plan", {"name", "summary", "defaults", "kernels"});
  SweepPlan plan{.name = plan_table.text("name"), .path = path, .sessions = {}};

  SearchSettings defaults;
  if (const TomlNode* node = root.find("defaults")) {
    defaults = parse_settings(TableReader(*node, "[defaults]",
                                          {"seconds", "trials", "no_progress", "target", "strategy",
                                           "seed", "objective", "variants", "timing"}),
                              {});
  }
  for (const TomlNode* node : plan_table.tables("kernels")) {
    const TableReader table(*node, "[[kernels]]",
                            {"kernel", "problems", "seconds", "trials", "no_progress", "target",
                             "strategy", "seed", "objective", "variants", "timing"});
    const std::string kernel = table.text("kernel");
    const SearchSettings settings = parse_settings(table, defaults);
    table.require("problems", "a list of problems such as \"n=2^20 dtype=f32\"");
    const std::vector<std::string> problems = table.texts("problems");
    for (std::size_t i = 0; i < problems.size(); ++i) {
      plan.sessions.push_back({kernel, problems[i], settings,
                               table.find("problems")->children[i].text_where,
                               table.find("kernel")->text_where});
    }
  }
  if (plan.sessions.empty()) {
    throw InputError(SourceLocation{path, 0, 0},
                     "the plan has no problem; expected at least one [[kernels]] with 'problems'");
  }
  return plan;
}

}  // namespace kiln
