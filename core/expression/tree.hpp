// The parsed form of an expression: a tree of operations kept in one array, children before
// parents. Made by the parser; read by the compiler (bytecode), by to_c (C source) and by
// templates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/lexer.hpp"
#include "core/value.hpp"

namespace kiln::expression {

/// Limits that keep every later step bounded, for specs that come from strangers.
constexpr std::size_t kMaxTextLength = 4096;  // characters
constexpr int kMaxNesting = 64;               // brackets, signs, `else if` ...
constexpr int kMaxHeight = 512;               // of the tree: operators in a row count, too

/// What a node computes from its children. Names and functions of the language: operation_info().
enum class Operation : std::uint8_t {
  constant,  // value
  name,      // names[name]
  negate,
  logical_not,
  bit_not,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  all_of,  // a and b and c
  any_of,  // a or b or c
  member,  // first child in the list of the others
  chain,   // a < b <= c: children a, b, c; comparisons <, <=
  choose,  // children: condition, then, otherwise
  minimum,
  maximum,
  absolute,
  ceil_divide,
  round_up,
  is_power_of_two,
  floor_log2,
  size_of,
  to_integer,
  to_real,
  to_boolean,
  uses,  // whether a formula's text, a, has the name b
  sine,
  cosine,
  tangent,
  exponential,
  logarithm,
  square_root,
  hyperbolic_tangent,
  error_function,
  round_down,
  real_power,
  list,                    // templates: a list of the children
  contained,               // templates: first child in the list that the second one is
  exists,                  // templates: whether names[name] has a value
  first_of_dialect = 128,  // and above: functions of a dialect's own
};

struct Node {
  Operation operation = Operation::constant;
  std::uint32_t offset = 0;  ///< of its operator or first character, for messages
  int height = 1;
  Value value;                         ///< constant
  int name = 0;                        ///< name, exists
  std::vector<int> children;           ///< indices into Tree::nodes
  std::vector<Operation> comparisons;  ///< chain: one less than children
};

struct Tree {
  std::vector<Node> nodes;
  int root = 0;
  std::vector<std::string> names;           ///< in the order of first use
  std::vector<std::uint32_t> name_offsets;  ///< of the first use
};

struct Function;

/// Which language the text is in: expressions of specs, formulas over declared variables, the
/// conditions of another tool's space, or the tags of a template. Templates also have lists as
/// values, `^` for powers, and no `/`, whose fractions would become constants of a kernel.
struct Dialect {
  bool formula = false;
  bool is_template = false;
  std::span<const Function> functions = {};      ///< templates only: beside those of the language
  std::span<const std::string> variables = {};   ///< formulas only
  std::span<const std::string> parameters = {};  ///< names that win over the words of the language
  std::span<const std::string> texts = {};  ///< parameters that count as true unless they are empty
};

/// Throws InputError with the place and what was expected.
[[nodiscard]] Tree parse_tree(const Source& source, const Dialect& dialect);

/// "+", "and", "min": as the language writes it; empty for operations without a sign of their own.
[[nodiscard]] std::string_view spelling(Operation operation);

}  // namespace kiln::expression
