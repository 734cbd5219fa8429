// How statements and values are written for PostgreSQL. Pure functions. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// A statement whose placeholders are "$1", "$2", ...
struct DollarText {
  std::string text;
  int parameters = 0;  ///< the largest number
};

/// Replaces the placeholders "?" and "?1" of a statement; quoted text stays.
[[nodiscard]] DollarText with_dollar_placeholders(std::string_view statement);

/// Statements with SQLite's types, INTEGER to BLOB in capitals, with the server's: text compares by
/// its bytes there too, and rows are numbered from 1. An import may number a row itself.
[[nodiscard]] std::string with_server_types(std::string_view statements);

/// The text as a server of encoding UTF-8 accepts it: what is no UTF-8, and NUL, becomes U+FFFD.
[[nodiscard]] std::string storable_text(std::string_view text);

/// The bytes of a bytea in the hexadecimal output format ("\x0aff").
[[nodiscard]] std::string bytes_from_hex(std::string_view text);

/// The words of libpq or of the server as one line, without their last full stop.
[[nodiscard]] std::string one_line(std::string_view message);

/// What an error with this SQLSTATE means and what to do, as text that follows "URL: ". `said`: the
/// server's words.
[[nodiscard]] std::string explain_server(std::string_view sqlstate, const std::string& said);

/// The same for a connection that could not be made; libpq's own words say why.
[[nodiscard]] std::string explain_connect(const std::string& said);

}  // namespace kiln
