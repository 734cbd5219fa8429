// A TOML file as a plain tree that keeps the file's order and every place in it.
//
// The TOML library sorts tables by key and is slow to compile; it is included by toml_document.cpp
// alone, which copies the parsed file into this tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/value.hpp"

namespace kiln {

struct TomlNode {
  enum class Kind { scalar, array, table };

  Kind kind = Kind::table;
  std::string key;            ///< of the entry, when the parent is a table
  SourceLocation where;       ///< of the key; of the value when the parent is an array
  SourceLocation text_where;  ///< of the first character of the value (inside its quotes)
  Value scalar;
  std::vector<TomlNode> children;  ///< array: items; table: entries, in the order of the file

  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_table_array() const;  ///< a non-empty array of tables only
  [[nodiscard]] const TomlNode* find(std::string_view name) const;
};

/// "a table", "an array", "a string", ...: for messages.
[[nodiscard]] std::string describe(const TomlNode& node);

/// Throws InputError with the place in `path` for text that is no TOML, is larger than 1 MiB, or
/// holds dates or times (Kiln has no use for them).
[[nodiscard]] TomlNode parse_toml(const std::string& text, const std::string& path);

}  // namespace kiln
