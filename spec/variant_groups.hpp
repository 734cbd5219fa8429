// VariantGroups: what several variants have in common, written once in [groups.NAME].
//
// A variant with `use = ["loads", "lanes", "finish"]` gets the parts of groups `loads` and `finish`
// when the spec is read; nothing after that knows of groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/spec_parser.hpp"

namespace kiln {

class VariantGroups {
 public:
  /// Reads the groups of a spec. Throws InputError with the place of what is wrong in one. `spec`
  /// must outlive it.
  VariantGroups(const TableReader& spec, VariantKind kind);

  /// The variant's own parts and those of the groups that it uses, in the order of `use`. Throws
  /// InputError at an entry of `use` that is unknown or appears twice.
  [[nodiscard]] VariantParts parts_of(const TableReader& variant);

  /// Throws InputError at the first group that no variant used.
  void check_all_used() const;

 private:
  struct Group {
    std::string name;
    SourceLocation where;
    VariantParts parts;
    bool is_used = false;
  };

  [[nodiscard]] Group* find(std::string_view name);
  [[nodiscard]] std::vector<std::string> names() const;

  std::vector<Group> groups_;
};

}  // namespace kiln
