// Problem: sizes and element types of one call; the key under which trials are stored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/spec.hpp"

namespace kiln {

/// Values by name, in an order that means something.
using Fields = std::vector<std::pair<std::string, Value>>;

/// All fields of a spec with their values, in the spec's order, defaults filled in.
class Problem {
 public:
  Problem() = default;

  /// Reads "m=512,n=512,dtype=f32" (commas or spaces; 1e6, 2^20 and 64Ki/64Mi/64Gi are sizes). A
  /// value with commas or spaces (a formula) stands in single or double quotes. Throws InputError
  /// naming the field and what it may be, for unknown, missing or repeated fields, for broken
  /// problem rules (with their reason), and where a term of [[distance]] is no number.
  static Problem parse(const KernelSpec& spec, std::string_view text);

  /// The same from values; absent fields take their defaults.
  static Problem make(const KernelSpec& spec, const Fields& given);

  [[nodiscard]] const Fields& fields() const { return fields_; }
  [[nodiscard]] const Value& at(std::string_view name) const;  ///< std::out_of_range when absent
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::string text_of(std::string_view name) const;  ///< to_text of the value

  /// Canonical text with every field: "m=512 n=512 k=512 dtype=f32 ...": the database key.
  [[nodiscard]] std::string text() const;
  /// The same without fields that equal their default; for tables.
  [[nodiscard]] std::string short_text(const KernelSpec& spec) const;

  /// Adds the fields and the spec's derived values.
  void add_to_scope(const KernelSpec& spec, Scope& scope) const;

  friend bool operator==(const Problem&, const Problem&) = default;

 private:
  Fields fields_;
};

}  // namespace kiln
