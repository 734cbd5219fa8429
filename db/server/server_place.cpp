// SPDX-License-Identifier: Apache-2.0
#include "db/server/server_place.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

#include "core/shown_text.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};
std::size_t end_of_scheme(const std::string& place) {
  for (const std::string_view scheme : kSchemes) {
    if (place.starts_with(scheme)) return scheme.size();
  }
  return 0;
}

/// A connection string of libpq that Kiln does not take: it would be the name of a file.
bool is_other_spelling(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (end_of_scheme(lower) > 0) return true;
  constexpr std::array<std::string_view, 9> kKeys = {
      "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "sslmode"};
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) {
    const std::size_t at = lower.find(key);
    if (at == std::string::npos || (at > 0 && lower[at - 1] != ' ')) return false;
    const std::size_t after = lower.find_first_not_of(' ', at + key.size());
    return after != std::string::npos && lower[after] == '=';
  });
}

}  // namespace

bool names_server(const std::filesystem::path& place) { return end_of_scheme(place.native()) > 0; }

std::string shown_place(const std::filesystem::path& place) {
  return hidden_passwords(place.native());
}

std::string server_url_fault(const std::filesystem::path& place) {
  const std::string& text = place.native();
  std::error_code error;
  if (end_of_scheme(text) == 0) {
    if (!is_other_spelling(text) || std::filesystem::exists(place, error)) return "";
    return shown_place(place) +
           ": is a connection string in another form; expected a file, or a URL as "
           "postgresql://HOST/DATABASE";
  }
  if (shown_place(place) == text) return "";
  return shown_place(place) +
         ": holds a password, which other users of this machine can see; expected a URL without "
         "one, and the password in ~/.pgpass, a service file or PGPASSWORD";
}

bool may_exist(const std::filesystem::path& place) {
  std::error_code error;
  return names_server(place) || std::filesystem::exists(place, error);
}

}  // namespace kiln
