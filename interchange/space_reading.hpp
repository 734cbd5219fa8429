// What the readers of described spaces share. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/errors.hpp"
#include "interchange/described_space.hpp"

namespace kiln::interchange {

/// Keeps the order of members: that of the tunables is that of the file.
using OrderedJson = nlohmann::ordered_json;

/// Finds the places of texts in a file whose parser tells none, given that they are asked for in
/// the order of the file.
class PlaceFinder {
 public:
  PlaceFinder(std::string_view file, const std::string& path) : file_(file), path_(path) {}

  /// Place of the first character of the next JSON string that is `text`; only the path where there
  /// is none (or one with escapes before it in the line).
  [[nodiscard]] SourceLocation next(std::string_view text);
  /// The file, no line.
  [[nodiscard]] SourceLocation file() const { return {path_, 0, 0}; }

 private:
  std::string_view file_;
  const std::string& path_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

/// A value in a message: as it is written, or "an array", "an object".
[[nodiscard]] std::string describe(const OrderedJson& json);

/// A tunable with these values. Throws InputError at `where` for no values, too many, or one that
/// comes twice.
[[nodiscard]] Tunable make_tunable(std::string name, std::vector<Value> values,
                                   const SourceLocation& where);

/// Adds it to the variant. Throws InputError at its place when there is one of that name.
void add_tunable(Variant& variant, Tunable tunable);

/// Adds a constraint in Python syntax. Throws InputError at its place when it cannot be read or
/// uses a name that is no tunable of the variant.
void add_constraint(Variant& variant, const std::string& text, const SourceLocation& where);

/// The values of a list: numbers, texts and booleans. Throws InputError at `where`.
[[nodiscard]] std::vector<Value> values_of(const OrderedJson& list, const std::string& tunable,
                                           const SourceLocation& where);

}  // namespace kiln::interchange
