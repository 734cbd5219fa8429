// Configs: canonical text and difference.
// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"

#include <algorithm>
#include <cctype>

#include "core/suggest.hpp"

namespace kiln {

std::string value_in_config(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return to_text(value);
  const bool is_plain =
      !text->empty() && std::all_of(text->begin(), text->end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
      });
  if (is_plain) return *text;
  std::string quoted = "'";
  for (const char c : *text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '\'';
}

std::string Config::text() const {
  std::string out = variant;
  char separator = ':';
  for (const auto& [name, value] : values) {
    out += separator + name + '=' + value_in_config(value);
    separator = ',';
  }
  return out;
}

KernelSpec spec_for(const KernelSpec& spec, const Config& config) {
  KernelSpec own = spec;
  for (auto& [name, value] : own.config_values) {
    if (const Value* const given = config.find(name)) value = *given;
  }
  return own;
}

const Value* Config::find(std::string_view tunable) const {
  for (const auto& [name, value] : values) {
    if (name == tunable) return &value;
  }
  return nullptr;
}

std::string difference_text(const Config& config, const Config& other) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : config.values) {
    const Value* old = other.find(name);
    if (old != nullptr && *old == value) continue;
    parts.push_back(name + "=" + value_in_config(value) +
                    (old == nullptr ? "" : " instead of " + value_in_config(*old)));
  }
  for (const auto& [name, value] : other.values) {
    if (config.find(name) == nullptr) parts.push_back("without " + name);
  }
  return comma_list(parts);
}

}  // namespace kiln
