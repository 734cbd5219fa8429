// SPDX-License-Identifier: Apache-2.0
#include "db/server_place.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>
#include <utility>

namespace kiln {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};
constexpr std::string_view kMask = "***";

/// Where a text holds a password: from `first` to before `last`.
struct SecretPart {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// "user:password" up to the last "@" before the path. Empty: there is none.
SecretPart secret_of_user(const std::string& url, std::size_t begin) {
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  std::size_t at = url.rfind('@', end == 0 ? 0 : end - 1);
  // A password that holds "/", "?" or "#" unescaped: better hide too much than too little.
  if (const std::size_t last = url.rfind('@'); last != std::string::npos && last > end) at = last;
  if (at == std::string::npos || at < begin) return {};
  const std::size_t colon = url.find(':', begin);
  if (colon == std::string::npos || colon >= at) return {};
  return {colon + 1, at};
}

/// The value of the first parameter that is a password.
SecretPart secret_of_parameter(const std::string& url, std::size_t begin) {
  std::string lower = url;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view name : {"password=", "sslpassword="}) {
    for (std::size_t at = lower.find(name, begin); at != std::string::npos;
         at = lower.find(name, at + 1)) {
      if (lower[at - 1] != '?' && lower[at - 1] != '&') continue;
      const std::size_t first = at + name.size();
      return {first, std::min(url.find_first_of("&#", first), url.size())};
    }
  }
  return {};
}

std::size_t end_of_scheme(const std::string& place) {
  for (const std::string_view scheme : kSchemes) {
    if (place.starts_with(scheme)) return scheme.size();
  }
  return 0;
}

}  // namespace

bool names_server(const std::filesystem::path& place) { return end_of_scheme(place.native()) > 0; }

std::string shown_place(const std::filesystem::path& place) {
  std::string text = place.native();
  const std::size_t begin = end_of_scheme(text);
  if (begin == 0) return text;
  for (const auto find : {secret_of_parameter, secret_of_user}) {
    const SecretPart secret = find(text, begin);
    if (secret.last > secret.first) text.replace(secret.first, secret.last - secret.first, kMask);
  }
  return text;
}

std::string server_url_fault(const std::filesystem::path& place) {
  const std::string& text = place.native();
  const std::size_t begin = end_of_scheme(text);
  if (begin == 0) return "";
  const SecretPart user = secret_of_user(text, begin);
  const SecretPart parameter = secret_of_parameter(text, begin);
  if (user.last == user.first && parameter.last == parameter.first) return "";
  return shown_place(place) +
         ": holds a password, which other users of this machine can see; expected a URL without "
         "one, and the password in ~/.pgpass, a service file or PGPASSWORD";
}

bool may_exist(const std::filesystem::path& place) {
  std::error_code error;
  return names_server(place) || std::filesystem::exists(place, error);
}

}  // namespace kiln
