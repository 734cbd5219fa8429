// JsonLine: reads a stranger's JSON object key by key, each with its expected type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace kiln {

/// Every reader throws InputError, which names the key and the expected value.
class JsonLine {
 public:
  /// `json` must outlive the line. Throws if it is not an object.
  explicit JsonLine(const Json& json);

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }
  [[nodiscard]] std::string text(const char* key) const;
  /// A finite number of at least 0.
  [[nodiscard]] double number(const char* key) const;
  /// A whole number of at least 0.
  [[nodiscard]] std::int64_t count(const char* key) const;
  [[nodiscard]] const Json& object(const char* key) const;
  [[nodiscard]] const Json& array(const char* key) const;

  /// Throws for a key that is not among `known`.
  void allow_only(const std::vector<std::string>& known) const;

 private:
  [[nodiscard]] const Json& at(const char* key, const char* expected) const;
  const Json& json_;
};

/// Appends `json` as one line with one write, so that many processes may share the file without a
/// lock. Makes missing folders. Returns false if the line cannot be written whole.
bool append_json_line(const std::filesystem::path& path, const Json& json) noexcept;

/// Why append_json_line() could not write there; empty if it can.
[[nodiscard]] std::string json_lines_trouble(const std::filesystem::path& path);

/// Parses one line. Throws InputError with the column at which it stops being JSON, or for a key
/// that comes twice: readers differ in which of the two they believe.
[[nodiscard]] Json parse_json_line(std::string_view line);

/// Calls `read` with the JSON of each line of `text` that is not empty. Returns "FILE:LINE: ..."
/// for each line that is no JSON or for which `read` throws Error.
[[nodiscard]] std::vector<std::string> read_json_lines(
    std::string_view text, const std::string& file, const std::function<void(const Json&)>& read);

}  // namespace kiln
