// The functions that templates call (docs/dialect_templates.md), on plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "core/expression.hpp"
#include "templates/template_tree.hpp"

namespace kiln {

/// A fault without a place; the evaluator adds file, line and column.
class TemplateFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls a function of template_functions(), except `exists` and `choose`, which the evaluator does
/// itself. `formulas` are the problem's formulas by field name. Throws TemplateFault.
[[nodiscard]] TemplateValue call_template_function(
    const std::string& name, std::span<const TemplateValue> arguments,
    const std::map<std::string, Expression>& formulas);

/// Applies an operator of two operands ("+", "==", "in", ...). Throws TemplateFault.
[[nodiscard]] TemplateValue apply_template_operation(const std::string& operation,
                                                     const TemplateValue& left,
                                                     const TemplateValue& right);

/// A condition: a boolean, or a number (0 is false). Throws TemplateFault for texts and lists.
[[nodiscard]] bool template_truth(const TemplateValue& value);

/// How a value is written into the source: booleans as 1 and 0. Throws TemplateFault for lists.
[[nodiscard]] std::string template_text(const TemplateValue& value);

}  // namespace kiln
