// [command]: how a program is built, run, read and believed.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "core/command_spec.hpp"
#include "core/source_text.hpp"
#include "core/suggest.hpp"
#include "spec/spec_parser.hpp"

namespace kiln {
namespace {

TextPattern pattern_of(const TableReader& table, const char* key) {
  return TextPattern::parse(table.text(key), table.find(key)->text_where);
}

std::vector<TextPattern> build_lines(const TableReader& table) {
  const TomlNode* node = table.find("build");
  if (node == nullptr) return {};
  if (node->is_text()) return {pattern_of(table, "build")};
  std::vector<TextPattern> lines;
  (void)table.texts("build");  // says what is wrong
  for (const TomlNode& line : node->children) {
    lines.push_back(TextPattern::parse(std::get<std::string>(line.scalar), line.text_where));
  }
  return lines;
}

CommandReader reader_of(const TableReader& table) {
  constexpr std::array<CommandReader, 4> kReaders = {CommandReader::last_line, CommandReader::regex,
                                                     CommandReader::nvbench,
                                                     CommandReader::google_benchmark};
  const std::string word = table.text_or("read", "last_line");
  std::vector<std::string> names;
  for (const CommandReader reader : kReaders) {
    if (word == name_of(reader)) return reader;
    names.emplace_back(name_of(reader));
  }
  table.fail("read", fmt::format("'read' must be one of {}, not '{}'{}", comma_list(names), word,
                                 did_you_mean(word, names)));
}

double unit_of_table(const TableReader& table) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const std::string word = table.text("unit");
  for (const auto& [name, ns] : kUnits) {
    if (word == name) return ns;
  }
  table.fail("unit", fmt::format("'unit' must be ns, us, ms or s, not '{}'", word));
}

Regex regex_of(const TableReader& table, const char* key) {
  return Regex::parse(table.text(key), fmt::format("[command]: '{}'", key), table.find(key)->where);
}

void parse_reading(const TableReader& table, CommandSpec& command) {
  command.reader = reader_of(table);
  const bool is_regex = command.reader == CommandReader::regex;
  const bool is_json =
      command.reader == CommandReader::nvbench || command.reader == CommandReader::google_benchmark;
  if (is_regex != (table.find("pattern") != nullptr)) {
    table.fail("pattern", "'pattern' and read = \"regex\" go together");
  }
  if (is_regex) command.pattern = regex_of(table, "pattern");
  if (is_regex && command.pattern->groups() != 1) {
    table.fail("pattern", "'pattern' must have one group in round brackets: the number");
  }
  for (const char* key : {"benchmark", "time"}) {
    if (table.find(key) && !is_json) {
      table.fail(key, fmt::format("'{}' is for read = \"nvbench\" and \"google_benchmark\"", key));
    }
  }
  command.benchmark = table.text_or("benchmark", "");
  command.time = table.text_or(
      "time", command.reader == CommandReader::nvbench ? "nv/cold/time/gpu/mean" : "real_time");
  command.output = table.text_or("output", "");
  const std::string better = table.text_or("better", "lower");
  if (better != "lower" && better != "higher") {
    table.fail("better", fmt::format("'better' must be lower or higher, not '{}'", better));
  }
  command.goal = better == "lower" ? Goal::minimise : Goal::maximise;
  const bool needs_unit = !is_json && command.goal == Goal::minimise;
  if (needs_unit != (table.find("unit") != nullptr)) {
    table.fail("unit", needs_unit ? "'unit' is missing: ns, us, ms or s of the number that is read"
                                  : "'unit' is for times that stand in no JSON");
  }
  if (needs_unit) command.unit_ns = unit_of_table(table);
}

double number_or(const TableReader& table, const char* key, double fallback, double least,
                 double most) {
  const std::optional<Value> value = table.value(key);
  if (!value) return fallback;
  const bool is_number =
      !std::holds_alternative<std::string>(*value) && !std::holds_alternative<bool>(*value);
  if (!is_number || !(as_double(*value) >= least && as_double(*value) <= most)) {
    table.fail(key, fmt::format("'{}' must be a number from {} to {}", key, least, most));
  }
  return as_double(*value);
}

}  // namespace

CommandSpec parse_command(const TomlNode& node) {
  const TableReader table(
      node, "[command]",
      {"build", "run", "environment", "files", "read", "pattern", "benchmark", "time", "output",
       "unit", "better", "check", "reference", "expect", "runs", "seconds"});
  CommandSpec command;
  command.where = node.where;
  command.build = build_lines(table);
  table.require("run", "the command line that runs the program");
  command.run = pattern_of(table, "run");
  for (const TomlNode* entry : table.entries("environment")) {
    check_identifier(entry->key, entry->where, "an environment variable");
    if (!entry->is_text()) {
      throw InputError(entry->text_where,
                       fmt::format("[command.environment]: '{}' must be a string", entry->key));
    }
    command.environment.emplace_back(
        entry->key, TextPattern::parse(std::get<std::string>(entry->scalar), entry->text_where));
  }
  for (const std::string& file : table.texts("files")) {
    command.files.push_back(path_inside(file));
    if (command.files.back().empty()) {
      table.fail("files",
                 fmt::format("'{}' must be a file in the spec's folder or below it", file));
    }
  }
  parse_reading(table, command);
  if (table.find("check")) command.check = pattern_of(table, "check");
  if (table.find("reference")) command.reference = pattern_of(table, "reference");
  if (command.reference && !command.check) {
    table.fail("reference", "'reference' needs 'check': what both print is compared");
  }
  if (table.find("expect")) command.expect = regex_of(table, "expect");
  command.runs = static_cast<int>(number_or(table, "runs", command.runs, 1, 1000));
  command.seconds = number_or(table, "seconds", command.seconds, 0.1, 86400);
  return command;
}

void validate_command(const KernelSpec& spec, const Variant& variant, KnownNames known) {
  const CommandSpec& command = *spec.command;
  if (known.contains("folder")) {
    throw InputError(variant.where,
                     "'folder' is the spec's folder in [command]: take another name");
  }
  known.add("folder");
  const auto check = [&](const TextPattern& pattern, std::string_view key) {
    for (const Expression& hole : pattern.holes()) {
      known.check(hole, fmt::format("'{}' of [command]", key));
    }
  };
  for (const TextPattern& line : command.build) check(line, "build");
  check(command.run, "run");
  for (const auto& [name, value] : command.environment) check(value, "environment");
  if (command.check) check(*command.check, "check");
}

}  // namespace kiln
