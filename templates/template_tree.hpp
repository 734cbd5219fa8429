// A parsed template: a small tree of our own, so that only template_parser.cpp knows inja.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "core/value.hpp"

namespace kiln {

using TemplateList = std::vector<Value>;
/// What an expression of a template gives: a value, or a list for a loop.
using TemplateValue = std::variant<Value, TemplateList>;

struct TemplateExpression {
  enum class Kind { literal, name, call, operation };
  Kind kind = Kind::literal;
  TemplateValue value;  ///< literal
  std::string name;     ///< name; function called; or operation: "+", "and", "not", ...
  std::vector<TemplateExpression> arguments;  ///< call, operation
  std::size_t position = 0;                   ///< byte in the template's text
};

struct TemplateNode {
  enum class Kind {
    text,     ///< bytes [position, position + length) of the template
    output,   ///< {{ expression }}
    loop,     ///< for name in expression: body
    branch,   ///< if expression: body, else: otherwise
    include,  ///< the template `name`, every line indented as far as this tag is
    assign,   ///< set name = expression
  };
  Kind kind = Kind::text;
  std::size_t position = 0;
  std::size_t length = 0;
  std::string name;
  std::string indent;
  TemplateExpression expression;
  std::vector<TemplateNode> body;
  std::vector<TemplateNode> otherwise;
};

struct ParsedTemplate {
  std::string file;  ///< as messages name it, e.g. "kernels/mine/tile.inja"
  std::string name;  ///< its last part: "tile.inja"
  std::string text;
  std::vector<std::size_t> line_starts;
  std::vector<TemplateNode> nodes;

  [[nodiscard]] SourceLocation where(std::size_t position) const;
};

/// Parses one template; `file` is its path as messages shall name it. Throws InputError with the
/// place.
[[nodiscard]] ParsedTemplate parse_template(const std::string& file, const std::string& text);

/// A function that templates may call, with how many arguments it takes.
struct TemplateFunction {
  std::string name;
  int arguments;
  std::string signature;  ///< for messages: "ceil_div(a, b)"
};
[[nodiscard]] const std::vector<TemplateFunction>& template_functions();
[[nodiscard]] const TemplateFunction* find_template_function(const std::string& name);

}  // namespace kiln
