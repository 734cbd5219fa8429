// Cuts the text of an expression into tokens, one at a time. Used by the parser only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/errors.hpp"

namespace kiln::expression {

enum class TokenKind {
  end,
  number,
  string,  ///< text is what stands between the quotes
  name,    ///< also dotted: device.warp_size
  symbol,  ///< operators, brackets and the words and, or, not, in, if, else
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::size_t offset = 0;  ///< of its first character, in bytes from the start of the expression
};

/// How a message names the token: "'+'", "the string 'f32'", "the end of the expression".
[[nodiscard]] std::string describe(const Token& token);

/// A text that ends with an expression, and where it stands; knows how to complain about a place in
/// it.
struct Source {
  std::string_view text;
  const SourceLocation& where;  ///< of the first character of `text`
  std::size_t begin = 0;  ///< where the expression begins; offsets count from the text's start

  /// Throws InputError: at the file's own line and column where they are known; otherwise the
  /// message ends with "at column 5 of 'text'".
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const;
};

/// Place in the file of the character at `offset`; `where` is the place of the first one.
[[nodiscard]] SourceLocation place_of(std::string_view text, const SourceLocation& where,
                                      std::size_t offset);

/// " at column 5 of 'a + b'": where the fault is, for an expression that stands in no file.
[[nodiscard]] std::string column_note(std::string_view text, std::size_t offset);

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), position_(source.begin) {}

  /// Throws InputError for a character that starts no token, an open string or a malformed number.
  [[nodiscard]] Token next();

 private:
  [[nodiscard]] Token take(TokenKind kind, std::size_t length);
  [[nodiscard]] Token number();
  [[nodiscard]] Token based_number();
  [[nodiscard]] Token string();
  [[nodiscard]] Token word();
  [[nodiscard]] Token symbol();
  [[nodiscard]] char peek(std::size_t ahead = 0) const;

  const Source& source_;
  std::size_t position_;
};

}  // namespace kiln::expression
