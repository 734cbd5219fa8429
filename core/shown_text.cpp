// SPDX-License-Identifier: Apache-2.0
#include "core/shown_text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "core/utf8.hpp"

namespace kiln {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kBlanks = " \t\r\n\f\v";

/// The code point of a well-formed character.
std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t point = first & (0x7FU >> character.size());
  for (const char c : character.substr(1))
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

bool steers(std::uint32_t point) {
  if (point < 0x20) return point != '\n' && point != '\t';
  const bool is_control = point >= 0x7F && point <= 0x9F;
  const bool is_line_end = point == 0x2028 || point == 0x2029;
  const bool turns = point == 0x061C || point == 0x200E || point == 0x200F ||
                     (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return is_control || is_line_end || turns;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
  return lowered;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                         hex_digit(text[i + 2]) >= 0;
    decoded +=
        is_code ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return decoded;
}

bool names_secret(std::string_view name) {
  const std::string plain = lower_case(percent_decoded(name));
  return plain.find("password") != std::string::npos || plain.find("secret") != std::string::npos ||
         plain.starts_with("scram_");
}

/// A URL without its scheme, up to the blank or quote that ends it.
std::string hidden_in_url(std::string_view url) {
  // The user part ends at the last "@" before the path. A password may hold "/", "?" or "#"
  // unescaped: better hide too much than too little.
  const std::size_t path = std::min(url.find_first_of("/?#"), url.size());
  std::size_t at = url.rfind('@', path == 0 ? 0 : path - 1);
  if (const std::size_t last = url.rfind('@'); last != std::string_view::npos && last > path)
    at = last;
  std::string out;
  if (at != std::string_view::npos) {
    const std::size_t colon = url.find(':');
    const bool has_secret = colon < at && colon + 1 < at;
    out += has_secret ? std::string(url.substr(0, colon + 1)) + std::string(kMask)
                      : std::string(url.substr(0, at));
    url.remove_prefix(at);
  }
  while (!url.empty()) {
    const std::size_t start = url.find_first_of("?&");
    if (start == std::string_view::npos) break;
    out += url.substr(0, start + 1);
    url.remove_prefix(start + 1);
    const std::size_t end = std::min(url.find_first_of("&#"), url.size());
    const std::string_view parameter = url.substr(0, end);
    const std::size_t equals = parameter.find('=');
    const bool is_secret = equals != std::string_view::npos && equals + 1 < parameter.size() &&
                           names_secret(parameter.substr(0, equals));
    out += is_secret ? std::string(parameter.substr(0, equals + 1)) + std::string(kMask)
                     : std::string(parameter);
    url.remove_prefix(end);
  }
  return out + std::string(url);
}

/// Bytes of the value in the key=value form at the front of `text`: a word, or in quotes.
std::size_t value_bytes(std::string_view text) {
  const bool is_quoted = text.starts_with('\'');
  std::size_t i = is_quoted ? 1 : 0;
  while (i < text.size()) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      i += 2;
      continue;
    }
    if (is_quoted && text[i] == '\'') return i + 1;
    if (!is_quoted && kBlanks.find(text[i]) != std::string_view::npos) break;
    ++i;
  }
  return i;
}

/// Begins a scheme of PostgreSQL at the front of `lowered`? Its bytes; 0: no.
std::size_t scheme_bytes(std::string_view lowered) {
  for (const std::string_view scheme : {"postgresql://", "postgres://"}) {
    if (lowered.starts_with(scheme)) return scheme.size();
  }
  return 0;
}

}  // namespace

std::size_t own_style_bytes(std::string_view text) {
  if (!text.starts_with(kOwnStyle)) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", kOwnStyle.size());
  return end == std::string_view::npos || text[end] != 'm' ? 0 : end + 1;
}

std::string shown_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = own_style_bytes(text);
    if (length == 0) length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (text.starts_with("\r\n")) {
      // The newline follows.
    } else if (!character.starts_with(kOwnStyle) && steers(code_point(character))) {
      out += fmt::format("\\u{:04x}", code_point(character));
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string hidden_passwords(std::string_view text) {
  const std::string lowered = lower_case(text);
  const bool may_hold = lowered.find("postgres") != std::string::npos ||
                        lowered.find("password") != std::string::npos;
  if (!may_hold) return std::string(text);
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (const std::size_t scheme = scheme_bytes(std::string_view(lowered).substr(i)); scheme > 0) {
      out += text.substr(i, scheme);
      i += scheme;
      const std::size_t end = std::min(text.find_first_of(" \t\r\n'\"", i), text.size());
      out += hidden_in_url(text.substr(i, end - i));
      i = end;
      continue;
    }
    constexpr std::string_view kKey = "password";
    if (lowered.compare(i, kKey.size(), kKey) == 0) {
      std::size_t value = text.find_first_not_of(kBlanks, i + kKey.size());
      if (value != std::string_view::npos && text[value] == '=') {
        value = std::min(text.find_first_not_of(kBlanks, value + 1), text.size());
        const std::size_t bytes = value_bytes(text.substr(value));
        out += text.substr(i, value - i);
        if (bytes > 0) out += kMask;
        i = value + bytes;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

}  // namespace kiln
