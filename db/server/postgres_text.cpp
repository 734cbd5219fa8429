// SPDX-License-Identifier: Apache-2.0
#include "db/server/postgres_text.hpp"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/json_text.hpp"

namespace kiln {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

DollarText with_dollar_placeholders(std::string_view statement) {
  DollarText dollar;
  int number = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const char c = statement[i];
    if (c == '\'') is_quoted = !is_quoted;
    if (c != '?' || is_quoted) {
      dollar.text += c;
      continue;
    }
    std::string digits;
    while (i + 1 < statement.size() && is_digit(statement[i + 1])) digits += statement[++i];
    if (digits.empty()) digits = std::to_string(++number);
    dollar.text += '$' + digits;
    dollar.parameters = std::max(dollar.parameters, std::stoi(digits));
  }
  return dollar;
}

// The JSON library replaces as dumps do, so that a session has one text in every store.
std::string storable_text(std::string_view text) {
  const Json json(text);
  std::string valid = Json::parse(json_text(json)).get<std::string>();
  for (std::size_t at = valid.find('\0'); at != std::string::npos; at = valid.find('\0', at)) {
    valid.replace(at, 1, kReplacement);
  }
  return valid;
}

std::string bytes_from_hex(std::string_view text) {
  if (text.starts_with("\\x")) text.remove_prefix(2);
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(hex_digit(text[i]) * 16 + hex_digit(text[i + 1]));
  }
  return bytes;
}

std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

std::string explain_server(std::string_view sqlstate, const std::string& said) {
  if (sqlstate == "42501") {
    return "this role has no permission (" + said +
           "); use another role, or let the owner run `kiln fleet init` and GRANT kiln_work or "
           "kiln_submit to it";
  }
  if (sqlstate == "53100") {
    return "the disk of the server is full (" + said +
           "); what was stored before is kept; make room, then run the same command again";
  }
  if (sqlstate == "25006") return "cannot be written (" + said + ")";
  if (sqlstate == "40001" || sqlstate == "40P01" || sqlstate == "55P03") {
    return "is in use by other programs (" + said + "); run the same command again";
  }
  if (sqlstate.empty() || sqlstate.starts_with("57P") || sqlstate.starts_with("08")) {
    return "the connection to the server was lost (" + said +
           "); what was stored before is kept; run the same command again when the server is back";
  }
  return said;
}

std::string explain_connect(const std::string& said) {
  if (has(said, "password authentication failed") || has(said, "no password supplied")) {
    return "the server refused the password (" + said +
           "); put the right one into ~/.pgpass, a service file or PGPASSWORD";
  }
  if (has(said, "could not translate host name")) {
    return "its host is unknown (" + said + "); name another one with --db";
  }
  if (has(said, "does not exist")) {
    return "the server does not have this database or role (" + said +
           "); create it, or name another one with --db";
  }
  return "the server cannot be reached (" + said +
         "); see that it runs and that this host may connect";
}

}  // namespace kiln
