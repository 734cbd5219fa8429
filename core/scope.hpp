// Names and their values, as an expression sees them: problem fields, tunables, derived values,
// device.*.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/value.hpp"

namespace kiln {

/// A flat, ordered set of names. Later set() of the same name replaces the value.
class Scope {
 public:
  void set(std::string_view name, Value value);
  void erase(std::string_view name);
  /// nullptr when the name has no value (yet). The pointer lives until the next set() or erase().
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace kiln
