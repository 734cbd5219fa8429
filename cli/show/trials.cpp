// Trials of a session as a list: which of them, in which order, and as comma-separated values.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/show/show.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "core/value.hpp"

namespace kiln::cli {
namespace {

/// One --where.
struct Condition {
  std::string name;
  std::string value;
};

Condition parse_condition(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size()) {
    throw UsageError(fmt::format(
        "--where: expected NAME=VALUE, e.g. tile_m=64, variant=tile or outcome=ok; not '{}'",
        text));
  }
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// What the trial has under this name; nullopt: it has no such tunable.
std::optional<std::string> value_of(const Trial& trial, const std::string& name) {
  if (name == "variant") return trial.config.variant;
  if (name == "outcome") return std::string(name_of(trial.outcome));
  for (const auto& [tunable, value] : trial.config.values) {
    if (tunable == name) return to_text(value);
  }
  return std::nullopt;
}

/// A condition that no trial meets is most likely a slip: it gets the words that there are.
void check(const Condition& condition, const std::vector<TrialRecord>& trials) {
  std::vector<std::string> values;
  for (const TrialRecord& row : trials) {
    const std::optional<std::string> value = value_of(row.trial, condition.name);
    if (value && std::find(values.begin(), values.end(), *value) == values.end())
      values.push_back(*value);
  }
  if (std::find(values.begin(), values.end(), condition.value) != values.end()) return;
  if (values.empty()) {
    std::vector<std::string> names = {"variant", "outcome"};
    for (std::string& name : tunable_names(trials)) names.push_back(std::move(name));
    throw UsageError(fmt::format("--where: the session has no '{}'{} (it has: {})", condition.name,
                                 did_you_mean(condition.name, names), comma_list(names)));
  }
  throw UsageError(fmt::format("--where: no trial of the session has {}={} (it has: {})",
                               condition.name, condition.value, comma_list(values)));
}

bool meets(const Trial& trial, const std::vector<Condition>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    return value_of(trial, condition.name) == condition.value;
  });
}

/// Trials that are not ok have no time: they come last.
bool is_faster(const TrialRecord& a, const TrialRecord& b) {
  if (a.trial.ok() != b.trial.ok()) return a.trial.ok();
  return a.trial.time_ns < b.trial.time_ns;
}

using Order = bool (*)(const TrialRecord&, const TrialRecord&);

Order order_of(const std::string& column) {
  if (column == "trial") {
    return [](const TrialRecord& a, const TrialRecord& b) { return a.sequence < b.sequence; };
  }
  if (column == "compile") {
    return [](const TrialRecord& a, const TrialRecord& b) {
      return a.trial.cost.compile_ns > b.trial.cost.compile_ns;
    };
  }
  if (column == "registers") {
    return [](const TrialRecord& a, const TrialRecord& b) {
      return a.trial.registers < b.trial.registers;
    };
  }
  if (column == "config") {
    return [](const TrialRecord& a, const TrialRecord& b) {
      return a.trial.config.text() < b.trial.config.text();
    };
  }
  return is_faster;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + "\"";
}

}  // namespace

std::vector<std::string> tunable_names(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const TrialRecord& row : trials) {
    for (const auto& [name, value] : row.trial.config.values) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

const std::vector<std::string>& trial_columns() {
  static const std::vector<std::string> kColumns = {"time", "trial", "compile", "registers",
                                                    "config"};
  return kColumns;
}

std::vector<TrialRecord> chosen_trials(const std::vector<TrialRecord>& trials,
                                       const TrialChoice& choice) {
  std::vector<Condition> conditions;
  for (const std::string& text : choice.where) {
    conditions.push_back(parse_condition(text));
    check(conditions.back(), trials);
  }
  std::vector<TrialRecord> chosen;
  for (const TrialRecord& row : trials) {
    if (meets(row.trial, conditions)) chosen.push_back(row);
  }
  std::stable_sort(chosen.begin(), chosen.end(), order_of(choice.sort));
  return chosen;
}

std::string trials_csv(const std::vector<TrialRecord>& trials) {
  const std::vector<std::string> tunables = tunable_names(trials);
  std::string out =
      "trial,outcome,time_ns,samples,compile_ns,registers,spill_bytes,shared_bytes,variant";
  for (const std::string& name : tunables) out += "," + csv_cell(name);
  out += ",message\n";
  for (const TrialRecord& row : trials) {
    const Trial& trial = row.trial;
    const auto known = [](std::int64_t number) {
      return number < 0 ? std::string() : std::to_string(number);
    };
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{}", row.sequence, name_of(trial.outcome),
                    trial.ok() ? fmt::format("{:.9g}", trial.time_ns) : "", trial.samples.ns.size(),
                    trial.cost.compile_ns, known(trial.registers), known(trial.spill_bytes),
                    known(trial.shared_bytes), csv_cell(trial.config.variant));
    for (const std::string& name : tunables)
      out += "," + csv_cell(value_of(trial, name).value_or(""));
    out += "," + csv_cell(trial.message) + "\n";
  }
  return out;
}

}  // namespace kiln::cli
