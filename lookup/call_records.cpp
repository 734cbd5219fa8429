// SPDX-License-Identifier: Apache-2.0
#include "lookup/call_records.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json_line.hpp"
#include "core/suggest.hpp"
#include "core/utc_time.hpp"
#include "lookup/lookup.hpp"

namespace kiln {
namespace {

const std::vector<std::string> kCallKeys = {"kernel", "problem",    "device",   "grade",
                                            "config", "selections", "launches", "recorded_at"};

std::vector<std::string> grade_names() {
  std::vector<std::string> names;
  for (const Grade grade : kGrades) names.emplace_back(name_of(grade));
  return names;
}

using CallKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;

CallRecord call_record_from(const Json& json) {
  const JsonLine line(json);
  line.allow_only(kCallKeys);
  CallRecord record{line.text("kernel"),   line.text("problem"), line.text("device"),
                    line.text("grade"),    line.text("config"),  line.count("selections"),
                    line.count("launches")};
  if (!parse_grade(record.grade)) {
    throw InputError(fmt::format("'{}' is no grade{} (there are: {})", record.grade,
                                 did_you_mean(record.grade, grade_names()),
                                 comma_list(grade_names())));
  }
  return record;
}

/// A stranger's counts may be as large as they like.
std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max()
                                                          : a + b;
}

}  // namespace

std::optional<std::filesystem::path> call_records_path() {
  const char* value = std::getenv("KILN_STATISTICS");
  const std::string text = value == nullptr ? "" : value;
  if (text.empty() || text == "0" || text == "1") return std::nullopt;
  return text;
}

std::string calls_trouble(const std::filesystem::path& path) { return json_lines_trouble(path); }

bool record_calls(const std::filesystem::path& path, const CallRecord& record) noexcept {
  return append_json_line(path, {{"kernel", record.kernel},
                                 {"problem", record.problem},
                                 {"device", record.device},
                                 {"grade", record.grade},
                                 {"config", record.config},
                                 {"selections", record.selections},
                                 {"launches", record.launches},
                                 {"recorded_at", utc_now()}});
}

std::vector<CallRecord> added_up(const std::vector<CallRecord>& records) {
  std::map<CallKey, CallRecord> sums;
  for (const CallRecord& record : records) {
    const CallKey key{record.kernel, record.problem, record.device, record.grade, record.config};
    const auto [place, is_new] = sums.try_emplace(key, record);
    if (is_new) continue;
    CallRecord& sum = place->second;
    sum.selections = capped_sum(sum.selections, record.selections);
    sum.launches = capped_sum(sum.launches, record.launches);
  }
  std::vector<CallRecord> all;
  for (auto& [key, record] : sums) all.push_back(std::move(record));
  std::stable_sort(all.begin(), all.end(),
                   [](const CallRecord& a, const CallRecord& b) { return a.calls() > b.calls(); });
  return all;
}

std::vector<CallRecord> untuned(const std::vector<CallRecord>& records) {
  std::vector<CallRecord> problems;
  for (CallRecord record : records) {
    if (record.grade == name_of(Grade::exact)) continue;
    record.grade.clear();  // of one problem, whichever config ran
    record.config.clear();
    problems.push_back(std::move(record));
  }
  return added_up(problems);
}

CallList read_calls(std::string_view text, const std::string& file) {
  CallList list;
  list.bad = read_json_lines(
      text, file, [&](const Json& json) { list.records.push_back(call_record_from(json)); });
  list.records = added_up(list.records);
  return list;
}

}  // namespace kiln
