// The network of operations gives what the evaluator gives, for every way in which it can end.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression/network.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "core/expression.hpp"

namespace kiln::expression {
namespace {

constexpr const char* kTexts[] = {
    "a + b * c",
    "a // b - a % b",
    "a / b == 2",
    "-a ** 2 + abs(b - c)",
    "min(a, b, c) * max(c, b)",
    "a < b < c",
    "a == b or c > 1",
    "a and b",
    "not (a > 1) and a // b > 0",
    "b != 0 and a % b == 0",
    "b == 0 or a % b == 0",
    "a // b > 0 and c > 1",
    "c > 5 and a // b > 0 and c < 0",
    "a in [1, b, 3 // c]",
    "a not in (1, 2)",
    "(a if c > 1 else b) + 1",
    "a // b if b else c",
    "ceil_div(a, b) + round_up(a, c)",
    "pow2(a) and log2(b) > 0",
    "sizeof(f32) * a",
    "(a * 4611686018427387904) * b > 0",
    "s == 'x' or a > 1",
    "s < 'y'",
    "s + 1",
    "1 // 0 > 0 and a",
    "u and 1 // 0 > 0 and False",
    "u or 1 // (a - a) > 0 or True",
    "(u and a // b > 0) == c",
};

/// What became of it: a value's text, "unknown" or "fault".
std::string evaluated(const Expression& expression, const Scope& scope) {
  std::vector<const Value*> slots;
  for (const std::string& name : expression.names()) slots.push_back(scope.find(name));
  try {
    const std::optional<Value> value = expression.evaluate(slots);
    return value ? to_text(*value) : "unknown";
  } catch (const EvaluationError&) {
    return "fault";
  }
}

std::string described(const Cell& cell) {
  if (cell.kind == CellKind::unknown) return "unknown";
  return cell.kind == CellKind::fault ? "fault" : to_text(to_value(cell));
}

/// The same through a network in which the names in `fixed` are constants.
std::string networked(const std::string& text, const Scope& scope, const std::string& fixed) {
  const SourceLocation where;
  const Tree tree = parse_tree({text, where}, {});
  Network network;
  std::vector<Register> names;
  for (const std::string& name : tree.names) {
    const bool constant = fixed.find(name) != std::string::npos;
    names.push_back(constant ? network.add_constant(scope.find(name)) : network.add_variable());
  }
  const Register root = network.add(tree, names);
  std::vector<Cell> registers = network.registers();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value* value = scope.find(tree.names[i]);
    if (value != nullptr) registers[names[i]] = network.own(*value);
  }
  for (const NetworkStep& step : network.steps()) run(step, registers.data());
  return described(registers[root]);
}

TEST(Network, AgreesWithTheEvaluator) {
  const std::vector<std::optional<std::int64_t>> values = {std::nullopt, 0, 1, 2, 6, -3};
  for (const char* text : kTexts) {
    const Expression expression = Expression::parse(text);
    for (const auto& a : values) {
      for (const auto& b : values) {
        for (const auto& c : values) {
          Scope scope;
          if (a) scope.set("a", *a);
          if (b) scope.set("b", *b);
          if (c) scope.set("c", *c);
          if (a) scope.set("s", std::string("x"));
          const std::string expected = evaluated(expression, scope);
          for (const char* fixed : {"", "a", "bs", "abcsu"}) {
            ASSERT_EQ(networked(text, scope, fixed), expected)
                << text << " with a=" << a.value_or(99) << " b=" << b.value_or(99)
                << " c=" << c.value_or(99) << " fixed " << fixed;
          }
        }
      }
    }
  }
}

TEST(Network, ComputesEqualPartsOnce) {
  Network network;
  const Register a = network.add_variable();
  const Register b = network.add_variable();
  const std::vector<Register> names = {a, b};
  const SourceLocation where;
  const Register first = network.add(parse_tree({"a * b + 1 > 4", where}, {}), names);
  const std::size_t size = network.steps().size();
  const Register second = network.add(parse_tree({"4 < 1 or a * b + 1 > 4", where}, {}), names);
  EXPECT_NE(first, second);
  EXPECT_LE(network.steps().size(), size + 3);  // the constant, the `or` and its first part
}

}  // namespace
}  // namespace kiln::expression
