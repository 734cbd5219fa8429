// TextPattern: a text with expressions in braces, such as "conv<{block_x}, {use_pad}>".
//
// Kernel names and compiler options of a spec are such texts: they may differ from config to
// config. `{{` and `}}` stand for one brace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.hpp"

namespace kiln {

class TextPattern {
 public:
  TextPattern() = default;

  /// Parses `text`; `where` is the place of its first character. Throws InputError with the place
  /// of the brace that has no partner, or of the fault in an expression.
  static TextPattern parse(std::string_view text, const SourceLocation& where = {});

  /// The text as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The expressions, in the order of the text.
  [[nodiscard]] const std::vector<Expression>& holes() const { return holes_; }
  [[nodiscard]] bool has_holes() const { return !holes_.empty(); }
  /// The text in front of the first expression.
  [[nodiscard]] const std::string& head() const { return parts_.front(); }

  /// How the value of an expression is written into the text.
  using Writer = std::function<std::string(const Value&)>;
  /// The text with every expression evaluated. Throws EvaluationError, and what `write` throws.
  [[nodiscard]] std::string fill(const Scope& scope, const Writer& write) const;
  /// The same; values are written as in config texts.
  [[nodiscard]] std::string fill(const Scope& scope) const;

 private:
  std::string text_;
  std::vector<std::string> parts_ = {""};  ///< one more than holes_; holes_[i] follows parts_[i]
  std::vector<Expression> holes_;
};

}  // namespace kiln
