// Tree to text: walks a parsed template with the values of one config and keeps, for every line
// that it writes, the template line that it came from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "templates/template_lint.hpp"

namespace kiln {

/// One line of rendered text, and "file:line" of the template text that begins it.
struct RenderedLine {
  std::string text;
  std::string origin;
};

struct TemplateInput {
  std::map<std::string, Value> values;         ///< what the template may see
  std::map<std::string, Expression> formulas;  ///< for formula(name, real)
};

struct TemplateOutput {
  std::vector<RenderedLine> lines;  ///< no trailing blanks, at most one empty line in a row
  std::set<std::string> read;       ///< names of TemplateInput that shaped the text
};

/// Throws InputError with the template's file, line and column. Bounded: 8 MiB of text, 500000
/// nodes.
[[nodiscard]] TemplateOutput evaluate_template(const TemplateSet& templates,
                                               const std::string& file, const TemplateInput& input);

}  // namespace kiln
