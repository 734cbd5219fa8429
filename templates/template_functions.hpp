// The functions that templates call beside those of specs (docs/dialect.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/expression.hpp"
#include "core/expression/functions.hpp"

namespace kiln {

using TemplateList = std::vector<Value>;
/// What an expression of a template gives: a value, or a list for a loop.
using TemplateValue = std::variant<Value, TemplateList>;

/// A fault without a place; the evaluator adds file, line and column.
class TemplateFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Functions that only templates have, as operations of a tree.
enum class TemplateFunction : std::uint8_t {
  ctype = static_cast<std::uint8_t>(expression::Operation::first_of_dialect),
  real,
  load,
  store,
  literal,
  formula,
  range,
  steps,
  length,
  at,
};

/// For the parser: the functions above, and other names for operations of the language.
[[nodiscard]] std::span<const expression::Function> template_functions();

/// `formulas` are the problem's formulas by field name. Throws TemplateFault.
[[nodiscard]] TemplateValue call_template_function(
    TemplateFunction function, std::span<const TemplateValue> arguments,
    const std::map<std::string, Expression>& formulas);

/// Applies an operation of the language to one operand (`right` is `left`) or two; `+` with a text
/// joins what both write. Throws TemplateFault.
[[nodiscard]] Value apply_template_operation(expression::Operation operation, const Value& left,
                                             const Value& right);

/// The value itself; throws TemplateFault for a list, or in the second case for anything else.
[[nodiscard]] const Value& scalar_of(const TemplateValue& value);
[[nodiscard]] const TemplateList& list_of(const TemplateValue& value);

/// How a value is written into the source: booleans as 1 and 0.
[[nodiscard]] std::string template_text(const Value& value);

}  // namespace kiln
