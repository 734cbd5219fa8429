// Finds "(41):" or ":41:" before the first "error", "warning" or "note" of a message line.
// SPDX-License-Identifier: Apache-2.0
#include "backends/compiler_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace kiln {
namespace {

/// What a message says of its place: "/cache/k.cl:41:5:" in "error: /cache/k.cl:41:5: text".
struct NamedLine {
  std::size_t number = 0;  ///< counted from 1; 0: the line is no message
  std::size_t begin = 0;   ///< of the place, with the file's name
  std::size_t end = 0;     ///< of the text after it
};

NamedLine line_named_by(std::string_view message) {
  for (std::size_t i = 0; i + 1 < message.size(); ++i) {
    const bool round = message[i] == '(';
    if (!round && message[i] != ':') continue;
    NamedLine named;
    const char* first = message.data() + i + 1;
    const auto [end, error] = std::from_chars(first, message.data() + message.size(), named.number);
    if (error != std::errc{} || end == message.data() + message.size()) continue;
    if (*end != (round ? ')' : ':')) continue;
    named.begin = message.rfind(' ', i) + 1;  // npos + 1: the first column
    named.end = std::min(message.find(": ", i), message.size() - 2) + 2;
    return named;
  }
  return {};
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
    const NamedLine named = is_message(line) ? line_named_by(line) : NamedLine();
    const bool is_known = named.number >= 1 && named.number <= source.origins.size() &&
                          !source.origins[named.number - 1].empty();
    if (is_known) {
      out.append(source.origins[named.number - 1]).append(": ");
      out.append(line.substr(0, named.begin)).append(line.substr(named.end));
      out.append(" [line ").append(std::to_string(named.number)).append("]");
    } else {
      out += line;
    }
    if (end < log.size()) out += '\n';
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return out;
}

}  // namespace kiln
