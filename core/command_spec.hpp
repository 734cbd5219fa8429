// [command]: a program of the user's is what is measured, in place of a kernel.
//
// Command lines are for /bin/sh, in a folder of the build's own. Their holes see the problem, the
// tunables and derived values of the variant, and `folder`, the spec's folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/regex.hpp"
#include "core/spec.hpp"

namespace kiln {

/// How the number is found in what the program wrote.
enum class CommandReader {
  last_line,         ///< the last number of the last line
  regex,             ///< every match of a regular expression with one group
  nvbench,           ///< the JSON of nvbench
  google_benchmark,  ///< the JSON of Google Benchmark
};

struct CommandSpec {
  std::vector<TextPattern> build;  ///< lines, one after the other; empty: nothing is built
  TextPattern run;
  std::vector<std::pair<std::string, TextPattern>> environment;  ///< of build and run
  std::vector<std::string> files;  ///< below the spec's folder: what the build reads, for keys

  CommandReader reader = CommandReader::last_line;
  std::optional<Regex> pattern;  ///< of regex; has one group
  std::string benchmark;         ///< JSON readers: part of the names that count; empty: all
  std::string time;              ///< JSON readers: which of the times
  std::string output;            ///< file in the build's folder; empty: stdout
  double unit_ns = 1;            ///< of a number that was read, where less is better
  Goal goal = Goal::minimise;

  std::optional<TextPattern> check;      ///< run after the first run; its exit code must be 0
  std::optional<TextPattern> reference;  ///< what it prints, `check` must print, too
  std::optional<Regex> expect;           ///< stdout of a run must have a match
  int runs = 5;                          ///< of the program, for each trial
  double seconds = 60;                   ///< one run may take this long
  SourceLocation where;
};

/// The word by which specs name a reader.
[[nodiscard]] std::string_view name_of(CommandReader reader);

/// The whole text for the shell: the environment, then `line`. `scope` as for a variant's steps.
/// Throws EvaluationError.
[[nodiscard]] std::string shell_text(const KernelSpec& spec, const TextPattern& line,
                                     const Scope& scope);

/// The name of the backend that runs programs.
inline constexpr std::string_view kCommandBackend = "command";

/// This machine, as the device of programs.
[[nodiscard]] DeviceInfo command_device();

}  // namespace kiln
