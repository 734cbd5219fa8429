// [verify] function = "reference.c:matmul(c, a, b, n)": a C or Python function as reference.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/outside_reference.hpp"
#include "core/source_text.hpp"
#include "spec/spec_parser.hpp"

namespace kiln {
namespace {

struct Part {
  std::string text;
  std::size_t at = 0;  ///< in the text of the key
};

Part trimmed_part(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && text[begin] == ' ') ++begin;
  while (end > begin && text[end - 1] == ' ') --end;
  return {std::string(text.substr(begin, end - begin)), begin};
}

/// What stands between the commas of `text`, from `begin` to `end`; those in brackets do not count.
std::vector<Part> split(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<Part> parts;
  int depth = 0;
  std::size_t start = begin;
  for (std::size_t i = begin; i <= end; ++i) {
    if (i < end && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < end && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < end && (text[i] != ',' || depth > 0)) continue;
    parts.push_back(trimmed_part(text, start, i));
    start = i + 1;
  }
  if (parts.size() == 1 && parts.front().text.empty()) parts.clear();
  return parts;
}

bool holds_function(const std::string& file) {
  constexpr std::array<std::string_view, 4> kEndings = {".c", ".cpp", ".cc", ".py"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

SourceLocation place(SourceLocation where, std::size_t at) {
  if (where.line > 0) where.column += static_cast<int>(at);
  return where;
}

}  // namespace

OutsideFunction parse_outside_function(const TomlNode& node,
                                       const std::vector<Argument>& arguments) {
  if (!node.is_text()) {
    throw InputError(node.text_where,
                     fmt::format("[verify]: 'function' must be a string, not {}", describe(node)));
  }
  const auto& text = std::get<std::string>(node.scalar);
  const auto fail = [&](std::size_t at, const std::string& message) {
    throw InputError(place(node.text_where, at), "[verify]: 'function' " + message);
  };
  OutsideFunction function;
  function.where = node.text_where;
  const std::size_t colon = std::min(text.find(':'), text.size());
  function.file = path_inside(text.substr(0, colon));
  if (colon == text.size() || !holds_function(function.file)) {
    fail(0, fmt::format("is '{}'; expected FILE.c:NAME or FILE.c:NAME(arguments), the file in the "
                        "spec's folder or below it (.c, .cpp, .cc, .py)",
                        text));
  }
  const std::size_t open = std::min(text.find('(', colon), text.size());
  function.name = text.substr(colon + 1, open - colon - 1);
  check_identifier(function.name, place(node.text_where, colon + 1), "a function");
  if (open == text.size()) {
    function.by_name = is_python(function.file);
    for (const Argument& argument : arguments) {
      function.operands.push_back({argument.name, std::nullopt});
    }
    return function;
  }
  if (!text.ends_with(')')) fail(text.size(), "has no ')' at its end");
  for (const Part& part : split(text, open + 1, text.size() - 1)) {
    if (part.text.empty()) fail(part.at, "has an empty argument");
    const bool is_argument = std::any_of(arguments.begin(), arguments.end(),
                                         [&](const auto& one) { return one.name == part.text; });
    if (is_argument) {
      function.operands.push_back({part.text, std::nullopt});
    } else {
      function.operands.push_back(
          {"", Expression::parse(part.text, place(node.text_where, part.at))});
    }
  }
  return function;
}

}  // namespace kiln
