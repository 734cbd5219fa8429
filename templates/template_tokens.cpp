// Splits what is in a tag into tokens, and refuses those that inja would read differently.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "templates/template_scan.hpp"

namespace kiln {
namespace {

// Bounds on what inja's parser and every walk over its tree recurse into.
constexpr std::size_t kMaxNesting = 64;  // of parentheses
constexpr std::size_t kMaxTagBytes = 4096;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// One parenthesis level of an expression: what has been seen at that level so far.
struct Level {
  char close = 0;  // the character that ends it: ')'; 0 for the tag itself
  bool has_and = false;
  bool has_or = false;
  bool after_not = false;  // a `not` whose operand goes on
};

class TagBody {
 public:
  TagBody(const std::string& file, const std::string& text, std::size_t tag_start)
      : file_(file), text_(text), tag_start_(tag_start) {}

  // Scans tokens up to `close`; returns the position behind it.
  std::size_t run(std::size_t at, std::string_view close) const {
    std::vector<Level> levels(1);
    while (true) {
      at = skip_blanks(at);
      if (at - tag_start_ > kMaxTagBytes) fail(tag_start_, "a tag of more than 4096 bytes");
      if (close == "\n" && (at >= text_.size() || text_[at] == '\n' || starts(at, "\r\n"))) break;
      if (at >= text_.size())
        fail(tag_start_, "the tag that starts here has no '" + std::string(close) + "'");
      if (text_[at] == '\n' || text_[at] == '\r') {
        ++at;
      } else if (close != "\n" && (starts(at, close) || starts(at, "-" + std::string(close)))) {
        break;
      } else {
        at = token(at, levels);
      }
    }
    if (levels.size() > 1)
      fail(at, std::string("expected '") + levels.back().close + "' before the tag ends");
    if (close == "\n") return std::min(at + 1, text_.size());
    return at + (text_[at] == '-' ? 1 : 0) + close.size();
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(locate(file_, text_, position), message);
  }

  [[nodiscard]] bool starts(std::size_t at, std::string_view what) const {
    return text_.compare(at, what.size(), what) == 0;
  }

  [[nodiscard]] std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at;
  }

  std::size_t token(std::size_t at, std::vector<Level>& levels) const {
    char c = text_[at];
    if (is_name_start(c)) return name(at, levels);
    if (is_digit(c)) return number(at);
    if (c == '"') return string(at);
    if (c == '[') return list(at);
    if (c == '(') {
      levels.push_back({')'});
      if (levels.size() > kMaxNesting) fail(at, "more than 64 parentheses inside each other");
      return at + 1;
    }
    if (c == ')') {
      if (levels.back().close != c) fail(at, "unexpected ')'");
      levels.pop_back();
      return at + 1;
    }
    return operation(at, levels);
  }

  std::size_t operation(std::size_t at, std::vector<Level>& levels) const {
    static constexpr std::array<std::string_view, 6> kComparisons = {
        "==", "!=", "<=", ">=", "<", ">"};
    for (std::string_view comparison : kComparisons) {
      if (!starts(at, comparison)) continue;
      refuse_not_before(at, std::string(comparison), levels.back());
      return at + comparison.size();
    }
    char c = text_[at];
    if (c == ',') {
      levels.back() = Level{levels.back().close};
      return at + 1;
    }
    if (c == '|') fail(at, "there are no filters: write f(x) for 'x | f'");
    if (c == '\'') fail(at, "write texts in templates in double quotes");
    if (c == '/') fail(at, "'/' would give a fraction: write div(a, b) for whole numbers");
    if (c == '-' && negative(at)) fail(at, "there is no sign in templates: write 0 - x");
    if (std::string_view("+-*%^=").find(c) == std::string_view::npos) refuse_character(at);
    return at + 1;
  }

  [[noreturn]] void refuse_character(std::size_t at) const {
    std::string character = std::string("'") + text_[at] + "'";
    bool later_line = text_.find('\n', tag_start_) < at;
    if (later_line)
      fail(tag_start_,
           "the tag that starts here does not end before the " + character + " of a later line");
    bool brace = text_[at] == '{' || text_[at] == '}';
    fail(at, "unexpected " + character +
                 (brace ? " ('{{' opens an expression; for C text write '{ {')" : ""));
  }

  // A '-' with nothing to its left that it could be subtracted from.
  [[nodiscard]] bool negative(std::size_t at) const {
    while (at > 0 && std::isspace(static_cast<unsigned char>(text_[at - 1]))) --at;
    return at == 0 || !(is_name_part(text_[at - 1]) || text_[at - 1] == ')' ||
                        text_[at - 1] == ']' || text_[at - 1] == '"');
  }

  std::size_t name(std::size_t at, std::vector<Level>& levels) const {
    std::size_t end = at;
    while (end < text_.size() &&
           (is_name_part(text_[end]) ||
            (text_[end] == '.' && end + 1 < text_.size() && is_name_start(text_[end + 1]))))
      ++end;
    std::string word = text_.substr(at, end - at);
    if (end < text_.size() && (text_[end] == '-' || text_[end] == '/') && !starts(end, "-}}") &&
        !starts(end, "-%}")) {
      std::string operation(1, text_[end]);
      if (operation == "/")
        fail(end, "'/' would give a fraction: write div(a, b) for whole numbers");
      fail(end, "write spaces around '-': '" + word + "-' would be read as part of one name");
    }
    if (word == "null") fail(at, "there is no null in templates");
    Level& level = levels.back();
    if (word == "and" || word == "or") {
      (word == "and" ? level.has_and : level.has_or) = true;
      level.after_not = false;
      if (level.has_and && level.has_or) fail(at, "put parentheses around the 'and' or the 'or'");
    } else if (word == "not") {
      level.after_not = true;
    } else if (word == "in" && !in_for(at)) {
      refuse_not_before(at, "in", level);
    }
    return end;
  }

  // Is this the `in` of `for x in ...`?
  [[nodiscard]] bool in_for(std::size_t at) const {
    std::string_view before = std::string_view(text_).substr(tag_start_, at - tag_start_);
    std::size_t word = before.rfind("for ");
    return word != std::string_view::npos && before.find(" in ", word) == std::string_view::npos;
  }

  void refuse_not_before(std::size_t at, const std::string& operation, const Level& level) const {
    if (level.after_not)
      fail(at, "'not' binds tighter than '" + operation + "': write not (a " + operation + " b)");
  }

  // [1, 2, "x", true]: literals only, which is all that inja reads right.
  std::size_t list(std::size_t at) const {
    std::size_t next = skip_blanks(at + 1);
    if (next < text_.size() && text_[next] == ']') return next + 1;
    while (true) {
      next = skip_blanks(list_element(skip_blanks(next)));
      char c = next < text_.size() ? text_[next] : ' ';
      if (c == ']') return next + 1;
      if (c != ',') fail(next, "expected ',' or ']' in the list");
      ++next;
    }
  }

  std::size_t list_element(std::size_t at) const {
    char c = at < text_.size() ? text_[at] : ' ';
    if (is_digit(c)) return number(at);
    if (c == '"') return string(at);
    std::size_t end = at;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    std::string word = text_.substr(at, end - at);
    if (word == "true" || word == "false") return end;
    if (word.empty()) fail(at, "a list holds numbers and texts only");
    fail(at, "a list holds numbers and texts only, not the name '" + word + "'");
  }

  std::size_t number(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
    }
    if (end + 1 < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (text_[exponent] == '+' || text_[exponent] == '-') ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        for (end = exponent; end < text_.size() && is_digit(text_[end]);) ++end;
      }
    }
    bool padded = text_[at] == '0' && end > at + 1 && is_digit(text_[at + 1]);
    if (padded || (end < text_.size() && (is_name_part(text_[end]) || text_[end] == '.'))) {
      fail(at, "malformed number (write 12, 1.5 or 1e-3)");
    }
    if (!in_range(text_.substr(at, end - at))) fail(at, "the number is too large");
    return end;
  }

  static bool in_range(const std::string& digits) {
    const char* end = digits.data() + digits.size();
    std::int64_t whole = 0;
    double real = 0;
    bool is_whole = digits.find_first_not_of("0123456789") == std::string::npos;
    std::errc error = is_whole ? std::from_chars(digits.data(), end, whole).ec
                               : std::from_chars(digits.data(), end, real).ec;
    return error == std::errc();
  }

  std::size_t string(std::size_t at) const {
    for (std::size_t end = at + 1; end < text_.size() && text_[end] != '\n'; ++end) {
      if (text_[end] == '"') return end + 1;
      if (text_[end] == '\\') fail(end, "no backslashes in template texts");
      if (static_cast<unsigned char>(text_[end]) < ' ') break;
      if (static_cast<unsigned char>(text_[end]) > '~') fail(end, "only ASCII in template texts");
    }
    fail(at, "the text that starts here has no closing '\"' on its line");
  }

  const std::string& file_;
  const std::string& text_;
  std::size_t tag_start_;
};

/// Does the tag whose body begins at `at` end before its line does, and before another one begins?
bool is_closed_on_its_line(const std::string& text, std::size_t at, std::string_view close) {
  const std::size_t end = text.find(close, at);
  if (end == std::string::npos) return false;
  return text.find('\n', at) > end && text.find("{{", at) > end && text.find("{%", at) > end;
}

}  // namespace

bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

std::size_t check_tag_body(const std::string& file, const std::string& text, std::size_t tag_start,
                           std::size_t at, std::string_view close) {
  try {
    return TagBody(file, text, tag_start).run(at, close);
  } catch (const InputError& error) {
    // What is wrong inside of a tag that was never closed is the text behind it.
    const bool says_so =
        std::string_view(error.what()).find("the tag that starts here") != std::string_view::npos;
    if (says_so || close == "\n" || is_closed_on_its_line(text, at, close)) throw;
    throw InputError(locate(file, text, tag_start),
                     "the tag that starts here has no '" + std::string(close) + "' on its line");
  }
}

}  // namespace kiln
