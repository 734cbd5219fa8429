// SPDX-License-Identifier: Apache-2.0
#include "core/json_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/utf8.hpp"

namespace kiln::interchange {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxBadRows = 1000;                   // of a file; then it is no list of rows
constexpr std::size_t kMaxRowBytes = std::size_t{1} << 20;  // that are searched for a bad row's end

/// Where the text is no JSON, and why.
struct Fault {
  std::size_t offset;
  std::string message;
  bool begins_row = false;  ///< the next row seems to begin at `offset`: this one was cut
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kForeignWords = {{
    {"NaN", "NaN is no JSON"},
    {"nan", "nan is no JSON"},
    {"Infinity", "Infinity is no JSON"},
    {"-Infinity", "-Infinity is no JSON"},
    {"inf", "inf is no JSON"},
    {"-inf", "-inf is no JSON"},
    {"-NaN", "NaN is no JSON"},
    {"None", "None is Python; JSON writes null"},
    {"True", "True is Python; JSON writes true"},
    {"False", "False is Python; JSON writes false"},
}};

/// What Python and C++ write of numbers that JSON has not.
enum class NotFinite { refused, read };

struct NotFiniteWord {
  std::string_view word;
  double number;
};
constexpr std::array<NotFiniteWord, 4> kNotFinite = {
    {{"NaN", std::numeric_limits<double>::quiet_NaN()},
     {"-NaN", std::numeric_limits<double>::quiet_NaN()},
     {"Infinity", std::numeric_limits<double>::infinity()},
     {"-Infinity", -std::numeric_limits<double>::infinity()}}};

class JsonTextParser {
 public:
  explicit JsonTextParser(std::string_view text, NotFinite not_finite = NotFinite::read)
      : text_(text), not_finite_(not_finite) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
  }

  Json whole() {
    Json json = value(0);
    expect_end();
    return json;
  }

  /// The rows go to `take_row`, faults in them to `take_fault`.
  template <typename TakeRow, typename TakeFault>
  Json with_rows(std::string_view rows_at, const TakeRow& take_row, const TakeFault& take_fault) {
    Json head = Json::object();
    skip_space();
    if (peek() != '{') fail("expected an object");
    ++at_;
    auto& members = head.get_ref<Json::object_t&>();  // not head[]: it looks at every key again
    std::set<std::string> keys;
    for (bool first = true; !ends_behind_bad_rows() && !closes('}', first); first = false) {
      std::string name = key(keys);
      skip_space();
      if (name == rows_at && (peek() == '{' || peek() == '[')) {
        if (!rows(take_row, take_fault)) {
          is_cut_ = true;
          return head;
        }
        members.emplace_back(std::move(name), nullptr);
      } else {
        members.emplace_back(std::move(name), value(1));
      }
    }
    expect_end();
    return head;
  }

  /// Did the file end among its rows?
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  [[noreturn]] void fail(std::string message) const { throw Fault{at_, std::move(message)}; }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  void skip_space() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
      ++at_;
    }
  }

  /// A row that is cut may have taken the brackets behind it along.
  [[nodiscard]] bool ends_behind_bad_rows() {
    skip_space();
    return at_end() && bad_rows_ > 0;
  }

  void expect_end() {
    skip_space();
    if (!at_end()) fail("expected the end of the file, found " + found());
  }

  /// What stands here, for messages.
  [[nodiscard]] std::string found() const {
    if (at_end()) return "the end of the file";
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//") || rest.starts_with("/*") || rest.front() == '#') {
      return "a comment, which JSON does not have";
    }
    if (rest.front() == '\'') return "a single quote; JSON has double quotes";
    std::size_t length = 1;
    const auto is_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (is_word(rest.front()) && length < std::min<std::size_t>(rest.size(), 24) &&
           is_word(rest[length])) {
      ++length;
    }
    const auto byte = static_cast<unsigned char>(rest.front());
    if (byte < 0x20 || byte >= 0x7F) return fmt::format("the byte 0x{:02x}", byte);
    return fmt::format("'{}'", rest.substr(0, length));
  }

  /// At the end of an object or array, or at its next member?
  bool closes(char bracket, bool first) {
    skip_space();
    if (peek() == bracket && !at_end()) {
      ++at_;
      return true;
    }
    if (first) return false;
    if (at_end()) fail("the file ends here");
    if (peek() != ',') fail(fmt::format("expected ',' or '{}', found {}", bracket, found()));
    ++at_;
    skip_space();
    if (peek() == bracket) fail(fmt::format("trailing comma before '{}'", bracket));
    return false;
  }

  std::string key(std::set<std::string>& keys) {
    skip_space();
    if (at_end()) fail("the file ends here");
    if (peek() == '{') throw Fault{at_, "expected a key in double quotes, found '{'", true};
    if (peek() != '"') fail("expected a key in double quotes, found " + found());
    const std::size_t begin = at_;
    std::string name = string();
    if (!keys.insert(name).second) {
      at_ = begin;
      fail(fmt::format("the key \"{}\" is here a second time", name));
    }
    skip_space();
    if (at_end()) fail("the file ends here");
    if (peek() != ':') fail("expected ':', found " + found());
    ++at_;
    return name;
  }

  Json value(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("nested more than {} deep", kMaxDepth));
    skip_space();
    if (at_end()) fail("the file ends here");
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        return scalar();
    }
  }

  Json object(int depth) {
    ++at_;
    Json json = Json::object();
    std::set<std::string> keys;
    for (bool first = true; !closes('}', first); first = false) {
      const std::size_t begin = at_;
      std::string name = key(keys);
      skip_space();
      // "64,1": {...} inside of a trial of Kernel Tuner: that one is cut, and the next begins.
      const bool is_row = name.find(',') != name.npos || (!name.empty() && name[0] <= '9');
      if (depth == row_depth_ && peek() == '{' && is_row) {
        std::size_t at_key = begin;
        while (text_[at_key] != '"') ++at_key;
        throw Fault{at_key, "another one begins before this one ends", true};
      }
      json.get_ref<Json::object_t&>().emplace_back(std::move(name), value(depth + 1));
    }
    return json;
  }

  Json array(int depth) {
    ++at_;
    Json json = Json::array();
    for (bool first = true; !closes(']', first); first = false) json.push_back(value(depth + 1));
    return json;
  }

  Json scalar() {
    const std::string_view rest = text_.substr(at_);
    const auto take = [&](std::string_view word, Json json) {
      at_ += word.size();
      return json;
    };
    if (not_finite_ == NotFinite::read) {
      for (const auto& [word, number] : kNotFinite) {
        if (rest.starts_with(word)) return take(word, number);
      }
    }
    for (const auto& [word, message] : kForeignWords) {
      if (rest.starts_with(word)) fail(std::string(message));
    }
    if (rest.starts_with("true")) return take("true", true);
    if (rest.starts_with("false")) return take("false", false);
    if (rest.starts_with("null")) return take("null", nullptr);
    if (peek() == '-' || (peek() >= '0' && peek() <= '9')) return number();
    fail("expected a value, found " + found());
  }

  Json number() {
    const std::size_t begin = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      if (at_ == first)
        fail(at_end() ? "the file ends here" : "expected a digit, found " + found());
    };
    bool whole = true;
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    digits();
    if (zero && at_ - begin > (text_[begin] == '-' ? 2U : 1U)) {
      at_ = begin;
      fail("a number begins with 0");
    }
    if (peek() == '.') {
      whole = false;
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      whole = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    return number_of(text_.substr(begin, at_ - begin), whole, begin);
  }

  [[nodiscard]] static Json number_of(std::string_view text, bool whole, std::size_t begin) {
    const char* const end = text.data() + text.size();
    std::uint64_t natural = 0;
    const bool negative = text.front() == '-';
    if (whole && !negative && std::from_chars(text.data(), end, natural).ec == std::errc()) {
      return natural;
    }
    std::int64_t integer = 0;
    if (whole && negative && std::from_chars(text.data(), end, integer).ec == std::errc()) {
      return integer;
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec == std::errc()) return real;
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    if (tiny) return 0.0;
    throw Fault{begin, fmt::format("the number {} is out of range", text)};
  }

  std::string string() {
    const std::size_t begin = at_++;
    std::string out;
    while (true) {
      if (at_end()) {
        at_ = begin;
        fail("the file ends inside this string");
      }
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) fail("a string must end in its own line");
      if (c == '\\') {
        escape(out);
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) fail("the text is not UTF-8");
      out.append(text_.substr(at_, length));
      at_ += length;
    }
    ++at_;
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const std::size_t known = kFrom.find(c); known != kFrom.npos && c != '\0') {
      out += kTo[known];
      at_ += 2;
      return;
    }
    std::optional<std::uint32_t> point = c == 'u' ? hex4(at_ + 2) : std::nullopt;
    if (!point) fail("a backslash that escapes nothing");
    at_ += 6;
    if (*point >= 0xD800 && *point < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const auto low = hex4(at_ + 2);
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((*point - 0xD800) << 10) + (*low - 0xDC00);
        at_ += 6;
      }
    }
    if (*point >= 0xD800 && *point < 0xE000) fail("half of a surrogate pair");
    append_utf8(*point, out);
  }

  [[nodiscard]] std::optional<std::uint32_t> hex4(std::size_t begin) const {
    std::uint32_t point = 0;
    if (begin + 4 > text_.size()) return std::nullopt;
    const char* const first = text_.data() + begin;
    const auto result = std::from_chars(first, first + 4, point, 16);
    if (result.ec != std::errc() || result.ptr != first + 4) return std::nullopt;
    return point;
  }

  /// False: the text ends among the rows.
  template <typename TakeRow, typename TakeFault>
  bool rows(const TakeRow& take_row, const TakeFault& take_fault) {
    const bool keyed = peek() == '{';
    const char bracket = keyed ? '}' : ']';
    ++at_;
    row_depth_ = keyed ? 2 : -1;
    for (std::size_t number = 1;; ++number) {
      skip_space();
      if (at_end()) return false;
      if (peek() == bracket) break;
      const std::size_t begin = at_;
      std::string name = keyed ? std::string() : std::to_string(number);
      try {
        if (keyed) {
          std::set<std::string> fresh;
          name = key(fresh);
          skip_space();
        }
        const std::size_t start = at_;
        Json json = value(2);
        check_separator(bracket);
        take_row(std::move(name), start, std::move(json));
      } catch (const Fault& fault) {
        take_fault(name, fault);
        ++bad_rows_;
        const std::size_t end = end_of_row(begin);
        const std::size_t next = fault.begins_row ? fault.offset
                                 : keyed          ? next_keyed_row(fault.offset)
                                                  : end;
        at_ = std::min(std::max(next, begin + 1), fault.begins_row ? next : end);
        if (at_ == begin) ++at_;  // whatever it is, go on
        if (fault.begins_row || at_ < end) continue;
      }
      skip_space();
      if (peek() == ',' && !at_end()) ++at_;
    }
    ++at_;
    row_depth_ = -1;
    return true;
  }

  void check_separator(char bracket) {
    skip_space();
    if (at_end() || peek() == bracket) return;
    if (peek() != ',')
      fail(fmt::format("expected ',' or '{}' behind it, found {}", bracket, found()));
    std::size_t next = at_ + 1;
    while (next < text_.size() && std::string_view(" \t\r\n").find(text_[next]) != text_.npos)
      ++next;
    if (next < text_.size() && text_[next] == bracket) {
      fail(fmt::format("trailing comma before '{}'", bracket));
    }
  }

  /// Behind the row that begins at `begin`: the comma or bracket that is none of its own.
  [[nodiscard]] std::size_t end_of_row(std::size_t begin) const {
    int depth = 0;
    bool quoted = false;
    const std::size_t last = std::min(text_.size(), begin + kMaxRowBytes);
    for (std::size_t i = begin; i < last; ++i) {
      const char c = text_[i];
      if (quoted) {
        if (c == '\\') ++i;
        if (c == '"' || c == '\n') quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth < 0) return i;
      } else if (c == ',' && depth == 0) {
        return i;
      }
    }
    return text_.size();
  }

  /// The next line behind `from` that begins like a row: "64,1": {
  [[nodiscard]] std::size_t next_keyed_row(std::size_t from) const {
    const auto skip = [&](std::size_t at) {
      return std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
    };
    for (std::size_t line = text_.find('\n', from); line < text_.size();
         line = text_.find('\n', line + 1)) {
      const std::size_t quote = skip(line);
      if (quote == text_.size() || text_[quote] != '"') continue;
      const std::size_t closing = text_.find('"', quote + 1);
      if (closing == std::string_view::npos) break;
      const std::size_t colon = skip(closing + 1);
      if (colon == text_.size() || text_[colon] != ':') continue;
      const std::size_t value = skip(colon + 1);
      if (value < text_.size() && text_[value] == '{') return quote;
    }
    return text_.size();
  }

  std::string_view text_;
  NotFinite not_finite_;
  std::size_t at_ = 0;
  std::size_t bad_rows_ = 0;
  bool is_cut_ = false;
  int row_depth_ = -1;  // of objects that are rows and hold no objects
};

SourceLocation place_at(std::string_view text, const std::string& path, std::size_t offset,
                        int first_line = 1) {
  const std::string_view before = text.substr(0, offset);
  const auto line = first_line + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return {path, static_cast<int>(line), static_cast<int>(before.size() - line_start + 1)};
}

}  // namespace

JsonRows parse_rows(std::string_view text, const std::string& path, std::string_view rows_at,
                    std::string_view noun) {
  JsonRows out;
  // Rows come in order, so their lines are counted once.
  std::size_t counted = 0;
  int line = 1;
  const auto place = [&](std::size_t offset) {
    if (offset < counted) return place_at(text, path, offset);
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted = offset;
    const std::size_t line_start = text.substr(0, offset).rfind('\n') + 1;
    return SourceLocation{path, line, static_cast<int>(offset - line_start + 1)};
  };
  JsonTextParser parser(text);
  try {
    out.head = parser.with_rows(
        rows_at,
        [&](std::string key, std::size_t offset, Json json) {
          out.rows.push_back({std::move(key), place(offset), std::move(json)});
        },
        [&](const std::string& key, const Fault& fault) {
          if (out.bad.size() == kMaxBadRows) {
            throw InputError(fmt::format("{}\nand more than {} other bad rows", out.bad.front(),
                                         kMaxBadRows - 1));
          }
          out.bad.push_back(fmt::format("{}: {}{}: {}", to_text(place(fault.offset)), noun,
                                        key.empty() ? "" : fmt::format(" '{}'", key),
                                        fault.message));
        });
  } catch (const Fault& fault) {
    throw InputError(place_at(text, path, fault.offset), fault.message);
  }
  out.is_cut = parser.is_cut();
  return out;
}

Json parse_json(std::string_view text, const std::string& path) {
  try {
    return JsonTextParser(text).whole();
  } catch (const Fault& fault) {
    throw InputError(place_at(text, path, fault.offset), fault.message);
  }
}

std::string why_no_json(std::string_view text) {
  try {
    (void)JsonTextParser(text, NotFinite::refused).whole();
    return "";
  } catch (const Fault& fault) {
    return fault.message;
  }
}

}  // namespace kiln::interchange
