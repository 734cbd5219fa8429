// TableReader: typed access to one TOML table, with the errors a user needs.
//
// Every error names the table, the key, what was expected and the place. Keys nobody asks for are
// errors, so that a mistyped key never passes in silence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.hpp"
#include "spec/toml_document.hpp"

namespace kiln {

class TableReader {
 public:
  /// `title` is how messages call the table, e.g. "[problem.rows]". Throws InputError when the node
  /// is no table or holds a key that is not in `allowed`. Keeps a reference to `node`.
  TableReader(const TomlNode& node, std::string title, std::initializer_list<const char*> allowed);

  [[nodiscard]] const SourceLocation& where() const { return node_.where; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const TomlNode* find(std::string_view key) const { return node_.find(key); }
  const TomlNode& require(std::string_view key, std::string_view expected) const;

  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] bool flag_or(std::string_view key, bool fallback) const;
  [[nodiscard]] std::optional<Value> value(std::string_view key) const;
  [[nodiscard]] std::vector<Value> values(std::string_view key) const;       ///< absent: empty
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;  ///< absent: empty

  [[nodiscard]] Expression expression(std::string_view key) const;
  [[nodiscard]] std::optional<Expression> optional_expression(std::string_view key) const;
  [[nodiscard]] std::vector<Expression> expressions(std::string_view key) const;  ///< absent: empty

  /// Items of an array of tables; absent: empty.
  [[nodiscard]] std::vector<const TomlNode*> tables(std::string_view key) const;
  /// Entries of a sub-table, in the order of the file; absent: empty.
  [[nodiscard]] std::vector<const TomlNode*> entries(std::string_view key) const;

  /// Throws InputError at the place of `key` (of the table when the key is absent): "TITLE:
  /// message".
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;

 private:
  const TomlNode& node_;
  std::string title_;
};

/// A string, number or boolean of the file as an expression.
[[nodiscard]] Expression to_expression(const TomlNode& node, const std::string& title);

}  // namespace kiln
