// Reads times from a last line, by a pattern, or from JSON of Google Benchmark and NVBench.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/command_reading.hpp"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/parse_json.hpp"
#include "core/program.hpp"
#include "core/separated_number.hpp"

namespace kiln {
namespace {

using SortedJson = nlohmann::json;

constexpr double kNsPerSecond = 1e9;

Failure unreadable(const std::string& expected) {
  return {Outcome::launch_error, "the program's time cannot be read: expected " + expected};
}

std::optional<double> number_of_text(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::optional<double> number_of_text(const SortedJson& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return number_of_text(json.get<std::string>());
  return std::nullopt;
}

/// Finds the last number of a line, whatever stands around it.
std::optional<double> last_number(const std::string& line) {
  std::optional<double> found;
  const char* end = line.data() + line.size();
  for (const char* at = line.data(); at != end;) {
    double value = 0;
    const bool may_begin = (*at >= '0' && *at <= '9') || *at == '.';
    const auto [last, error] =
        may_begin ? std::from_chars(at, end, value) : std::from_chars_result{at, std::errc()};
    if (last == at) {
      ++at;
      continue;
    }
    const bool is_negative = at != line.data() && at[-1] == '-';
    found = error == std::errc() ? std::optional(is_negative ? -value : value) : std::nullopt;
    at = last;
  }
  return found;
}

Result<std::vector<double>> from_last_line(const std::string& text) {
  const std::string line = last_lines(text, 1);
  if (const std::string_view number = separated_number(line); !number.empty())
    return unreadable(fmt::format("digits alone in the last line; '{}' has separators", number));
  if (const auto number = last_number(line)) return std::vector<double>{*number};
  return unreadable(fmt::format("a number in the last line, which is '{}'", line.substr(0, 200)));
}

Result<std::vector<double>> from_pattern(const Regex& pattern, const std::string& text) {
  std::vector<double> numbers;
  std::optional<std::string> no_number;
  pattern.each_match(text, [&](std::span<const std::string_view> found) {
    const std::string group(found[1]);
    const auto number = number_of_text(group);
    if (number) numbers.push_back(*number);
    if (!number && !no_number) no_number = group;
  });
  if (no_number && separated_number(*no_number) == *no_number)
    return unreadable(fmt::format("digits alone; '{}' has separators", *no_number));
  if (no_number) {
    return unreadable(
        fmt::format("'{}', which '{}' found, to be a number", *no_number, pattern.text()));
  }
  if (numbers.empty()) return unreadable(fmt::format("a match of '{}'", pattern.text()));
  return numbers;
}

/// The member `key` of an object; null where there is none.
const SortedJson& member(const SortedJson& json, const char* key) {
  static const SortedJson kNull;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? kNull : *found;
}

std::string text_of(const SortedJson& json) {
  return json.is_string() ? json.get<std::string>() : "";
}

bool is_wanted(const CommandSpec& command, const std::string& name) {
  return command.benchmark.empty() || name.find(command.benchmark) != std::string::npos;
}

std::string which(const CommandSpec& command) {
  return command.benchmark.empty()
             ? "a benchmark"
             : fmt::format("a benchmark with '{}' in its name", command.benchmark);
}

/// Samples by benchmark become samples of all of them together.
Result<std::vector<double>> sums(const CommandSpec& command,
                                 const std::map<std::string, std::vector<double>>& times) {
  if (times.empty()) return unreadable(which(command) + " with a '" + command.time + "'");
  std::vector<double> all(times.begin()->second.size());
  for (const auto& [name, samples] : times) {
    if (samples.size() != all.size()) return unreadable("as many repetitions of each benchmark");
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += samples[i];
  }
  return all;
}

double ns_of_unit(const std::string& unit) {
  return unit == "s" ? kNsPerSecond : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
}

/// {"benchmarks": [{"name", "run_name", "run_type", "aggregate_name", "real_time", "time_unit"},
/// ...]}. Where only aggregates are reported, the median counts, else the mean.
Result<std::vector<double>> from_google_benchmark(const CommandSpec& command,
                                                  const SortedJson& json) {
  std::map<std::string, std::vector<double>> times;
  std::map<std::string, std::vector<double>> aggregates;
  for (const SortedJson& run : member(json, "benchmarks")) {
    std::string name = text_of(member(run, "name"));
    if (!is_wanted(command, name)) continue;
    const bool is_aggregate = text_of(member(run, "run_type")) == "aggregate";
    if (is_aggregate) name = text_of(member(run, "run_name"));
    const std::string kind = text_of(member(run, "aggregate_name"));
    if (is_aggregate && kind != "median" && (kind != "mean" || aggregates.count(name) > 0))
      continue;
    if (member(run, "skipped") == SortedJson(true)) {
      return Failure{Outcome::launch_error, fmt::format("benchmark '{}' was skipped: {}", name,
                                                        text_of(member(run, "skip_message")))};
    }
    if (member(run, "error_occurred") == SortedJson(true)) {
      return Failure{Outcome::launch_error, fmt::format("benchmark '{}': {}", name,
                                                        text_of(member(run, "error_message")))};
    }
    if (const auto time = number_of_text(member(run, command.time.c_str()))) {
      const double ns = *time * ns_of_unit(text_of(member(run, "time_unit")));
      if (is_aggregate) {
        aggregates[name] = {ns};
      } else {
        times[name].push_back(ns);
      }
    }
  }
  times.merge(aggregates);  // those alone that have no repetitions
  return sums(command, times);
}

/// {"benchmarks": [{"name", "states": [{"name", "is_skipped", "summaries": [{"tag", "data":
/// [{"name": "value", "value"}]}]}]}]}; values in seconds
Result<std::vector<double>> from_nvbench(const CommandSpec& command, const SortedJson& json) {
  std::map<std::string, std::vector<double>> times;
  for (const SortedJson& benchmark : member(json, "benchmarks")) {
    for (const SortedJson& state : member(benchmark, "states")) {
      const std::string name =
          text_of(member(benchmark, "name")) + " " + text_of(member(state, "name"));
      if (!is_wanted(command, name)) continue;
      if (member(state, "is_skipped") == SortedJson(true)) {
        return Failure{Outcome::launch_error, fmt::format("benchmark '{}' was skipped: {}", name,
                                                          text_of(member(state, "skip_reason")))};
      }
      for (const SortedJson& summary : member(state, "summaries")) {
        if (text_of(member(summary, "tag")) != command.time) continue;
        for (const SortedJson& value : member(summary, "data")) {
          const auto seconds = number_of_text(member(value, "value"));
          if (seconds && text_of(member(value, "name")) == "value") {
            times[name] = {*seconds * kNsPerSecond};
          }
        }
      }
    }
  }
  return sums(command, times);
}

Result<std::vector<double>> from_json(const CommandSpec& command, const std::string& text) {
  SortedJson json;
  // A program may say other things before.
  const std::size_t line = text.starts_with('{') ? 0 : text.find("\n{");
  try {
    json = parse_json(line == std::string::npos ? text : text.substr(line),
                      {.reads_not_finite = true});  // counters may be NaN, which JSON has not
  } catch (const InputError&) {
    return unreadable(fmt::format("the JSON of {}", name_of(command.reader)));
  }
  return command.reader == CommandReader::nvbench ? from_nvbench(command, json)
                                                  : from_google_benchmark(command, json);
}

Result<std::vector<double>> numbers_in(const CommandSpec& command, const std::string& text) {
  switch (command.reader) {
    case CommandReader::last_line:
      return from_last_line(text);
    case CommandReader::regex:
      return from_pattern(*command.pattern, text);
    case CommandReader::nvbench:
    case CommandReader::google_benchmark:
      break;
  }
  return from_json(command, text);
}

}  // namespace

Result<std::vector<double>> read_samples(const CommandSpec& command, const std::string& text) {
  Result<std::vector<double>> numbers = numbers_in(command, text);
  if (!numbers) return numbers;
  for (double& number : *numbers) {
    if (!(number > 0) || !std::isfinite(number)) {
      return unreadable(fmt::format("a positive number, not {}", number));
    }
    number = command.goal == Goal::minimise ? number * command.unit_ns : kNsPerSecond / number;
  }
  return numbers;
}

}  // namespace kiln
