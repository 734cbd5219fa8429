// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/json_reading.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace kiln::interchange {

void throw_not_json(std::string_view text, const std::string& path, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const bool at_end = byte > text.size();
  throw InputError(
      {path, static_cast<int>(line), static_cast<int>(before.size() - line_start + 1)},
      at_end ? "expected JSON, but the file ends here" : "expected JSON, but it is broken here");
}

nlohmann::ordered_json parse_json(std::string_view text, const std::string& path) {
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw_not_json(text, path, error.byte);
  } catch (const nlohmann::json::out_of_range& error) {
    throw InputError({path, 0, 0}, error.what());
  }
}

}  // namespace kiln::interchange
