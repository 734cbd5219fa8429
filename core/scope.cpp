// SPDX-License-Identifier: Apache-2.0
#include "core/scope.hpp"

#include <utility>

namespace kiln {

void Scope::set(std::string_view name, Value value) {
  const auto place = values_.lower_bound(name);
  if (place != values_.end() && place->first == name) {
    place->second = std::move(value);
  } else {
    values_.emplace_hint(place, name, std::move(value));
  }
}

void Scope::erase(std::string_view name) {
  const auto place = values_.find(name);
  if (place != values_.end()) values_.erase(place);
}

const Value* Scope::find(std::string_view name) const {
  const auto place = values_.find(name);
  return place == values_.end() ? nullptr : &place->second;
}

}  // namespace kiln
