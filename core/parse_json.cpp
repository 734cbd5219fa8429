// SPDX-License-Identifier: Apache-2.0
#include "core/parse_json.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

/// What others write in place of JSON.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kHints = {{
    {"NaN", "NaN is no JSON"},
    {"nan", "nan is no JSON"},
    {"Infinity", "Infinity is no JSON"},
    {"-Infinity", "-Infinity is no JSON"},
    {"inf", "inf is no JSON"},
    {"-inf", "-inf is no JSON"},
    {"None", "None is Python; JSON writes null"},
    {"True", "True is Python; JSON writes true"},
    {"False", "False is Python; JSON writes false"},
    {"'", "a single quote; JSON has double quotes"},
    {"//", "a comment, which JSON does not have"},
    {"/*", "a comment, which JSON does not have"},
    {"#", "a comment, which JSON does not have"},
}};

constexpr char kStandIn = '\x7f';  // texts of these alone stand for numbers that JSON has not

struct NotFinite {
  std::string_view word;
  double number;
};
// The longer word first.
constexpr std::array<NotFinite, 4> kNotFinite = {
    {{"-Infinity", -std::numeric_limits<double>::infinity()},
     {"Infinity", std::numeric_limits<double>::infinity()},
     {"-NaN", std::numeric_limits<double>::quiet_NaN()},
     {"NaN", std::numeric_limits<double>::quiet_NaN()}}};

/// Behind the token at `at`, which is no space.
std::size_t token_end(std::string_view text, std::size_t at) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+' ||
           c == '.';
  };
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }
  const std::size_t begin = at;
  while (at < text.size() && is_word(text[at])) ++at;
  return std::max(at, begin + 1);
}

/// Calls `visit(begin, end)` for each token that begins before `last`.
template <typename Visit>
void visit_tokens(std::string_view text, std::size_t last, const Visit& visit) {
  for (std::size_t at = 0; at < std::min(last, text.size());) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    const std::size_t end = token_end(text, at);
    visit(at, end);
    at = end;
  }
}

/// The text with a string of the same length for each number that is not finite.
std::string with_stand_ins(std::string_view text) {
  std::string out(text);
  visit_tokens(text, text.size(), [&](std::size_t begin, std::size_t end) {
    for (const auto& [word, number] : kNotFinite) {
      if (text.substr(begin, end - begin) != word) continue;
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin),
                out.begin() + static_cast<std::ptrdiff_t>(end), kStandIn);
      out[begin] = out[end - 1] = '"';
      return;
    }
  });
  return out;
}

/// Puts the number back.
void replace_stand_in(Json& json) {
  const auto* text = json.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->find_first_not_of(kStandIn) != text->npos) return;
  for (const auto& [word, number] : kNotFinite) {
    if (word.size() == text->size() + 2) {
      json = number;
      return;
    }
  }
}

/// Reads a text and counts what was read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *read_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** read_;
};

/// The fault that nlohmann-json met when it had read `read` bytes of the text, for which `message`
/// has its words. Places of others are the begin of the token there.
JsonFault fault_at(std::string_view text, std::size_t read, std::string message) {
  std::size_t begin = text.size();
  std::size_t end = begin;
  char before = '\0';
  if (read <= text.size()) {
    visit_tokens(text, read, [&](std::size_t token, std::size_t behind) {
      if (begin < text.size()) before = text[begin];
      begin = token;
      end = behind;
    });
  }
  if (begin == text.size()) return {begin, "the file ends here"};
  const std::string_view token = text.substr(begin, end - begin);
  if (message.find("missing closing quote") != message.npos)
    return {begin, "the file ends inside this string"};
  if (message.find("control character U+000A") != message.npos)
    return {end - 1, "a string must end in its own line"};
  if (before == ',' && (token == "}" || token == "]"))
    return {begin, fmt::format("trailing comma before '{}'", token)};
  for (const auto& [word, hint] : kHints) {
    if (text.substr(begin).starts_with(word)) return {begin, std::string(hint)};
  }
  message.erase(std::min(message.find("; last read"), message.size()));
  if (message == "invalid literal" && std::isalnum(static_cast<unsigned char>(token[0])) != 0)
    message = fmt::format("'{}' is no JSON", token.substr(0, 24));
  return {begin, message};
}

/// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing
/// value - invalid literal; last read: 'x'" without what is our own business.
std::string words_of(std::string_view what) {
  for (const std::string_view lead : {" - ", ": ", "] "}) {
    if (const std::size_t found = what.find(lead); found != what.npos)
      return std::string(what.substr(found + lead.size()));
  }
  return std::string(what);
}

}  // namespace

Json parse_json(std::string_view text, const JsonRules& rules) {
  std::string copy;
  const bool has_stand_ins =
      rules.reads_not_finite && (text.find("NaN") != text.npos || text.find("Inf") != text.npos);
  if (has_stand_ins) copy = with_stand_ins(text);
  const char* const begin = has_stand_ins ? copy.data() : text.data();
  const char* read = begin;
  std::vector<std::set<std::string>> keys;  // of the objects that are open, by depth
  const auto take = [&](int depth, Json::parse_event_t event, Json& json) {
    const auto at = static_cast<std::size_t>(read - begin);
    if (depth > rules.max_depth)
      throw JsonFault(at - 1, fmt::format("nested deeper than {} levels", rules.max_depth));
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      keys.resize(level + 1);
      keys[level].clear();
    }
    if (event == Json::parse_event_t::key &&
        !keys[level - 1].insert(json.get<std::string>()).second) {
      throw JsonFault(fault_at(text, at, "").offset(),
                      fmt::format("the key \"{}\" is here a second time", json.get<std::string>()));
    }
    if (has_stand_ins && event == Json::parse_event_t::value) replace_stand_in(json);
    return true;
  };
  try {
    return Json::parse(CountingIterator(begin, &read), CountingIterator(begin + text.size(), &read),
                       take);
  } catch (const Json::parse_error& error) {
    throw fault_at(text, error.byte, words_of(error.what()));
  } catch (const Json::out_of_range& error) {
    const std::string what = words_of(error.what());
    const std::size_t quote = std::min(what.find('\''), what.size() - 1);
    const std::string number = what.substr(quote + 1, what.rfind('\'') - quote - 1);
    const std::size_t at = text.rfind(number, static_cast<std::size_t>(read - begin));
    throw JsonFault(at == text.npos ? 0 : at, fmt::format("the number {} is out of range", number));
  }
}

SourceLocation place_in(std::string_view text, const std::string& path, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return {path, static_cast<int>(line), static_cast<int>(before.size() - line_start + 1)};
}

}  // namespace kiln
