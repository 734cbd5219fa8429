// Cuts the text of an expression into tokens. ASCII only outside of strings.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression/lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kiln::expression {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c); }
bool is_base(char c) {
  return c == 'x' || c == 'X' || c == 'o' || c == 'O' || c == 'b' || c == 'B';
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Columns count characters, not bytes.
int count_characters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

constexpr std::array<std::string_view, 6> kOperatorWords = {"and", "or", "not", "in", "if", "else"};

// Two characters before one, so that the longest match comes first.
constexpr std::array<std::string_view, 24> kSymbols = {
    "**", "//", "<=", ">=", "==", "!=", "<<", ">>", "+", "-", "*", "/",
    "%",  "<",  ">",  "&",  "|",  "^",  "~",  "(",  ")", "[", "]", ",",
};

// What writers of C reach for, and what to write here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kForeign = {{
    {"&&", "and"},
    {"||", "or"},
    {"!", "not"},
    {"=", "=="},
    {"?", "a if condition else b"},
}};

}  // namespace

SourceLocation place_of(std::string_view text, const SourceLocation& where, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  SourceLocation place = where;
  if (newline == std::string_view::npos) {
    place.column += count_characters(before);
  } else {
    place.line += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    place.column = count_characters(before.substr(newline + 1)) + 1;
  }
  return place;
}

std::string column_note(std::string_view text, std::size_t offset) {
  const int column = count_characters(text.substr(0, offset)) + 1;
  return " at column " + std::to_string(column) + " of '" + std::string(text) + "'";
}

void Source::fail(std::size_t offset, const std::string& message) const {
  if (where.line > 0 && where.column > 0) throw InputError(place_of(text, where, offset), message);
  throw InputError(where, message + column_note(text, offset));
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the expression";
  const std::string quoted = "'" + std::string(token.text) + "'";
  return token.kind == TokenKind::string ? "the string " + quoted : quoted;
}

char Lexer::peek(std::size_t ahead) const {
  const std::size_t at = position_ + ahead;
  return at < source_.text.size() ? source_.text[at] : '\0';
}

Token Lexer::take(TokenKind kind, std::size_t length) {
  const Token token{kind, source_.text.substr(position_, length), position_};
  position_ += length;
  return token;
}

Token Lexer::next() {
  while (position_ < source_.text.size() && is_space(peek())) ++position_;
  if (position_ == source_.text.size()) return take(TokenKind::end, 0);
  const char c = peek();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (is_letter(c)) return word();
  if (c == '\'' || c == '"') return string();
  return symbol();
}

Token Lexer::number() {
  if (peek() == '0' && is_base(peek(1))) return based_number();
  std::size_t length = 0;
  // As in Python, an underscore may stand between two digits.
  const auto skip_digits = [&] {
    while (is_digit(peek(length)) || (peek(length) == '_' && length > 0 &&
                                      is_digit(peek(length - 1)) && is_digit(peek(length + 1)))) {
      ++length;
    }
  };
  skip_digits();
  if (peek(length) == '.') {
    ++length;
    skip_digits();
  }
  if (peek(length) == 'e' || peek(length) == 'E') {
    const std::size_t sign = peek(length + 1) == '+' || peek(length + 1) == '-' ? 1 : 0;
    if (is_digit(peek(length + 1 + sign))) {
      length += 1 + sign;
      skip_digits();
    }
  }
  const std::size_t whole = length;
  while (is_name_char(peek(length)) || peek(length) == '.') ++length;
  const Token token = take(TokenKind::number, length);
  if (length != whole) source_.fail(token.offset, describe(token) + " is not a number");
  return token;
}

/// 0xFF, 0o17, 0b101; the parser looks at the digits.
Token Lexer::based_number() {
  std::size_t length = 2;
  while (is_name_char(peek(length)) || peek(length) == '.') ++length;
  return take(TokenKind::number, length);
}

Token Lexer::string() {
  const std::size_t opening = position_;
  const std::size_t closing = source_.text.find(source_.text[opening], opening + 1);
  if (closing == std::string_view::npos) {
    source_.fail(opening, "expected a closing " + std::string(1, source_.text[opening]) +
                              " for the string that starts here");
  }
  position_ = closing + 1;
  return {TokenKind::string, source_.text.substr(opening + 1, closing - opening - 1), opening};
}

Token Lexer::word() {
  std::size_t length = 0;
  while (is_name_char(peek(length))) ++length;
  // A dot joins names only when another name follows it: "device.warp_size".
  while (peek(length) == '.' && is_letter(peek(length + 1))) {
    ++length;
    while (is_name_char(peek(length))) ++length;
  }
  const std::string_view text = source_.text.substr(position_, length);
  const bool is_symbol =
      std::find(kOperatorWords.begin(), kOperatorWords.end(), text) != kOperatorWords.end();
  return take(is_symbol ? TokenKind::symbol : TokenKind::name, length);
}

Token Lexer::symbol() {
  const std::string_view rest = source_.text.substr(position_);
  const bool of_c = rest.starts_with("&&") || rest.starts_with("||");
  for (const std::string_view symbol : kSymbols) {
    if (!of_c && rest.starts_with(symbol)) return take(TokenKind::symbol, symbol.size());
  }
  for (const auto& [foreign, ours] : kForeign) {
    if (rest.starts_with(foreign)) {
      source_.fail(position_,
                   "unexpected '" + std::string(foreign) + "'; write '" + std::string(ours) + "'");
    }
  }
  std::size_t length = 1;
  while (continues_character(peek(length))) ++length;
  source_.fail(position_, "unexpected character '" + std::string(rest.substr(0, length)) + "'");
}

}  // namespace kiln::expression
