// A parsed template: the pieces of its text, with expressions as the parser of specs reads them
// (core/expression).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/expression/tree.hpp"

namespace kiln {

struct TemplateExpression {
  expression::Tree tree;        ///< offsets count from the start of the template
  std::vector<int> slots = {};  ///< of tree.names, as NameTable numbers them

  [[nodiscard]] bool is_empty() const { return tree.nodes.empty(); }
  [[nodiscard]] const expression::Node& root() const {
    return tree.nodes[static_cast<std::size_t>(tree.root)];
  }
};

struct TemplateNode {
  enum class Kind {
    text,     ///< bytes [position, position + length) of the template
    output,   ///< {{ expression }}
    loop,     ///< for name in expression: body
    branch,   ///< if: the first arm in `body` whose expression is true
    arm,      ///< of a branch: expression (none: else) and body
    include,  ///< the template `name`, every line indented as far as this tag is
    assign,   ///< set name = expression
  };
  Kind kind = Kind::text;
  std::size_t position = 0;  ///< of its tag, or of the name that a statement gives
  int line = 1;              ///< of its tag or first byte
  std::size_t length = 0;
  std::string name;
  int slot = 0;  ///< of name: loop, assign
  std::string indent;
  TemplateExpression expression;
  std::vector<TemplateNode> body;
};

struct ParsedTemplate {
  FileName file;     ///< as messages name it, e.g. "kernels/mine/tile.inja"
  std::string name;  ///< its last part: "tile.inja"
  std::string text;
  std::vector<TemplateNode> nodes;

  [[nodiscard]] SourceLocation where(std::size_t position) const;
};

/// Numbers all names in the templates of a spec, so that rendering looks up none.
class NameTable {
 public:
  /// The names that a loop defines beside its own come first.
  static constexpr int kIndex = 0;
  static constexpr int kIndex1 = 1;
  static constexpr int kIsFirst = 2;
  static constexpr int kIsLast = 3;

  [[nodiscard]] int slot(std::string_view name);
  [[nodiscard]] const std::map<std::string, int, std::less<>>& slots() const { return slots_; }

 private:
  std::map<std::string, int, std::less<>> slots_ = {{"loop.index", kIndex},
                                                    {"loop.index1", kIndex1},
                                                    {"loop.is_first", kIsFirst},
                                                    {"loop.is_last", kIsLast}};
};

/// The parsed templates of a spec by file name.
struct TemplateSet {
  std::map<std::string, ParsedTemplate> files;
  NameTable names;
};

/// Parses one template; `file` is its path as messages shall name it. Throws InputError with the
/// place and what was expected. Bounded: 64 statements inside each other, 4096 characters an
/// expression.
[[nodiscard]] ParsedTemplate parse_template(const std::string& file, std::string text,
                                            NameTable& names);

}  // namespace kiln
