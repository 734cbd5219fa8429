// Finds "(41):" or ":41:" before the first "error", "warning" or "note" of a message line.
// SPDX-License-Identifier: Apache-2.0
#include "backends/compiler_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace kiln {
namespace {

/// The line number that a message points at, counted from 1; 0 when the line is no message.
std::size_t line_named_by(std::string_view message) {
  for (std::size_t i = 0; i + 1 < message.size(); ++i) {
    const bool round = message[i] == '(';
    if (!round && message[i] != ':') continue;
    std::size_t number = 0;
    const char* first = message.data() + i + 1;
    const auto [end, error] = std::from_chars(first, message.data() + message.size(), number);
    if (error != std::errc{} || end == message.data() + message.size()) continue;
    if (*end == (round ? ')' : ':')) return number;
  }
  return 0;
}

bool is_message(std::string_view line) {
  constexpr std::array<std::string_view, 4> kKinds = {"error", "warning", "note", "remark"};
  return std::any_of(kKinds.begin(), kKinds.end(), [line](std::string_view kind) {
    return line.find(kind) != std::string_view::npos;
  });
}

}  // namespace

std::string with_template_places(std::string_view log, const Source& source) {
  std::string out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    out += line;
    const std::size_t number = is_message(line) ? line_named_by(line) : 0;
    if (number >= 1 && number <= source.origins.size() && !source.origins[number - 1].empty()) {
      out.append(" [").append(source.origins[number - 1]).append("]");
    }
    if (end < log.size()) out += '\n';
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return out;
}

}  // namespace kiln
