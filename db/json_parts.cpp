// SPDX-License-Identifier: Apache-2.0
#include "db/json_parts.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace kiln {
namespace {

/// Goes over a text from value to value.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Steps over space and `mark`; false, and stays before what is there, when it is another one.
  bool take(char mark) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }

  /// The text of the next value; nullopt when there is none or it has no end.
  std::optional<std::string_view> value() {
    skip_space();
    const std::size_t begin = at_;
    if (begin == text_.size()) return std::nullopt;
    const char first = text_[begin];
    const bool ended = first == '"'                   ? skip_string()
                       : first == '{' || first == '[' ? skip_brackets()
                                                      : skip_word();
    if (!ended) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool skip_string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      }
    }
    at_ = text_.size();
    return false;
  }

  bool skip_brackets() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth == 0) return true;
    }
    return false;
  }

  // A number, true, false or null.
  bool skip_word() {
    const std::size_t begin = at_;
    const auto ends = [](char c) { return is_space(c) || c == ',' || c == '}' || c == ']'; };
    while (at_ < text_.size() && !ends(text_[at_])) ++at_;
    return at_ > begin;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string_view without_quotes(std::string_view string) {
  return string.substr(1, string.size() - 2);
}

}  // namespace

bool for_each_member(std::string_view json, const VisitMember& visit) {
  Cursor cursor(json);
  if (!cursor.take('{')) return false;
  if (cursor.take('}')) return cursor.at_end();
  do {
    const std::optional<std::string_view> key = cursor.value();
    if (!key || key->front() != '"' || !cursor.take(':')) return false;
    const std::optional<std::string_view> value = cursor.value();
    if (!value) return false;
    visit(without_quotes(*key), *value);
  } while (cursor.take(','));
  return cursor.take('}') && cursor.at_end();
}

bool for_each_element(std::string_view json, const VisitElement& visit) {
  Cursor cursor(json);
  if (!cursor.take('[')) return false;
  if (cursor.take(']')) return cursor.at_end();
  do {
    const std::optional<std::string_view> element = cursor.value();
    if (!element) return false;
    if (!visit(*element)) return true;
  } while (cursor.take(','));
  return cursor.take(']') && cursor.at_end();
}

std::optional<std::string> json_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  if (value.find('\\') == std::string_view::npos) return std::string(without_quotes(value));
  const Json json = Json::parse(value, nullptr, false);
  return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
}

std::optional<double> json_number(std::string_view value) {
  const bool is_word = value.find_first_not_of("-+.0123456789eE") != std::string_view::npos;
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (is_word || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace kiln
