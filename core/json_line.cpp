// SPDX-License-Identifier: Apache-2.0
#include "core/json_line.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/parse_json.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

// A line holds an object with a few nested ones; more is an attempt to exhaust somebody's stack.
constexpr int kMaxDepth = 16;

[[noreturn]] void reject(const char* key, const char* expected, const Json& found) {
  throw InputError(fmt::format("key '{}' must be {}, not {}", key, expected, found.type_name()));
}

}  // namespace

JsonLine::JsonLine(const Json& json) : json_(json) {
  if (!json.is_object()) {
    throw InputError(fmt::format("expected a JSON object, not {}", json.type_name()));
  }
}

const Json& JsonLine::at(const char* key, const char* expected) const {
  const auto found = json_.find(key);
  if (found == json_.end()) {
    throw InputError(fmt::format("key '{}' is missing; expected {}", key, expected));
  }
  return *found;
}

std::string JsonLine::text(const char* key) const {
  constexpr const char* kExpected = "a text";
  const Json& value = at(key, kExpected);
  if (!value.is_string()) reject(key, kExpected, value);
  return value.get<std::string>();
}

double JsonLine::number(const char* key) const {
  constexpr const char* kExpected = "a number of at least 0";
  const Json& value = at(key, kExpected);
  if (!value.is_number()) reject(key, kExpected, value);
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) {
    throw InputError(fmt::format("key '{}' must be {}, not {}", key, kExpected, number));
  }
  return number;
}

std::int64_t JsonLine::count(const char* key) const {
  constexpr const char* kExpected = "a whole number of at least 0";
  const Json& value = at(key, kExpected);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0) reject(key, kExpected, value);
  return value.get<std::int64_t>();
}

const Json& JsonLine::object(const char* key) const {
  constexpr const char* kExpected = "an object";
  const Json& value = at(key, kExpected);
  if (!value.is_object()) reject(key, kExpected, value);
  return value;
}

const Json& JsonLine::array(const char* key) const {
  constexpr const char* kExpected = "an array";
  const Json& value = at(key, kExpected);
  if (!value.is_array()) reject(key, kExpected, value);
  return value;
}

void JsonLine::allow_only(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : json_.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw InputError(fmt::format("there is no key '{}' here{} (there are: {})", key,
                                   did_you_mean(key, known), comma_list(known)));
    }
  }
}

std::string json_lines_trouble(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return path.string() + ": is a folder; expected a file";
  // What is not there is made, in the nearest folder that is.
  std::filesystem::path present = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(present, error) && present.has_relative_path())
    present = present.parent_path();
  if (present != std::filesystem::absolute(path, error) &&
      !std::filesystem::is_directory(present, error)) {
    return fmt::format("{}: cannot be made, for {} is no folder", path.string(), present.string());
  }
  if (::access(present.c_str(), W_OK) == 0) return "";
  return fmt::format("{}: cannot be written ({})", path.string(), std::strerror(errno));
}

bool append_json_line(const std::filesystem::path& path, const Json& json) noexcept {
  try {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    std::string line = json_text(json) + '\n';
    // With O_APPEND the kernel puts the whole write behind what others wrote.
    const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return false;
    // A write that a full disk cut short must not take this line with it.
    char last = '\n';
    const off_t end = ::lseek(file, 0, SEEK_END);
    if (end > 0 && ::pread(file, &last, 1, end - 1) == 1 && last != '\n') line.insert(0, 1, '\n');
    const bool whole = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(file);
    return whole;
  } catch (const std::exception&) {
    return false;
  }
}

Json parse_json_line(std::string_view line) {
  try {
    return parse_json(line, {.max_depth = kMaxDepth});
  } catch (const JsonFault& fault) {
    throw InputError(
        fmt::format("this is no JSON from column {} on ({}); expected one object a line",
                    fault.offset() + 1, fault.what()));
  }
}

std::vector<std::string> read_json_lines(std::string_view text, const std::string& file,
                                         const std::function<void(const Json&)>& read) {
  std::vector<std::string> bad;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    try {
      if (end > 0) read(parse_json_line(text.substr(0, end)));
    } catch (const Error& error) {
      bad.push_back(fmt::format("{}:{}: {}", file, number, error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return bad;
}

}  // namespace kiln
