// KnownNames: which names an expression may use at one point of a spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/expression.hpp"

namespace kiln {

class KnownNames {
 public:
  void add(std::string_view name) { names_.emplace_back(name); }
  void add(const std::vector<std::string>& names);
  /// What messages say behind the expression: " of variant 'tile'".
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  [[nodiscard]] bool contains(std::string_view name) const;

  /// Throws InputError at the place of the first name in `expression` that is not known here, with
  /// the nearest known name. `what` says which expression it is, e.g. "the shape of 'in'".
  void check(const Expression& expression, std::string_view what) const;

 private:
  std::vector<std::string> names_;  // in the order of definition
  std::string owner_;
};

}  // namespace kiln
