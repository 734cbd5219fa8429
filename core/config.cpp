// Configs: canonical text and difference.
// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"

#include "core/suggest.hpp"

namespace kiln {

std::string Config::text() const {
  std::string out = variant;
  char separator = ':';
  for (const auto& [name, value] : values) {
    out += separator + name + '=' + to_text(value);
    separator = ',';
  }
  return out;
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
    parts.push_back(name + "=" + to_text(value) +
                    (old == nullptr ? "" : " instead of " + to_text(*old)));
  }
  for (const auto& [name, value] : other.values) {
    if (config.find(name) == nullptr) parts.push_back("without " + name);
  }
  return comma_list(parts);
}

}  // namespace kiln
