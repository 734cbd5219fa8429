// SPDX-License-Identifier: Apache-2.0
#include "db/session_options.hpp"

#include <algorithm>

namespace kiln {
namespace {

/// Calls `take(word)` for each word, until it returns false.
template <typename Take>
void for_each_word(std::string_view options, const Take& take) {
  while (!options.empty()) {
    const std::string_view word = options.substr(0, options.find(' '));
    if (!word.empty() && !take(word)) return;
    options.remove_prefix(word.size() == options.size() ? word.size() : word.size() + 1);
  }
}

std::string_view name_of_word(std::string_view word) { return word.substr(0, word.find('=')); }

}  // namespace

std::optional<std::string_view> find_option(std::string_view options, std::string_view name) {
  std::optional<std::string_view> value;
  for_each_word(options, [&](std::string_view word) {
    if (name_of_word(word) != name) return true;
    word.remove_prefix(std::min(word.size(), name.size() + 1));
    value = word;
    return false;
  });
  return value;
}

void add_option(std::string& options, std::string_view name, std::string_view value) {
  if (!options.empty()) options += ' ';
  options += name;
  if (value.empty()) return;
  options += '=';
  options += value;
}

std::string without_option(std::string_view options, std::string_view name) {
  std::string rest;
  for_each_word(options, [&](std::string_view word) {
    if (name_of_word(word) == name) return true;
    if (!rest.empty()) rest += ' ';
    rest += word;
    return true;
  });
  return rest;
}

}  // namespace kiln
