// From tree to bytecode. Temporaries are handed out like a stack: the children of a node use those
// above the node's own, so a node's result never overwrites what is still needed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/expression/code.hpp"
#include "core/expression/operations.hpp"

namespace kiln::expression {
namespace {

class Compiler {
 public:
  Compiler(const Tree& tree, Arithmetic arithmetic) : tree_(tree) {
    program_.arithmetic = arithmetic;
    program_.frame_size = static_cast<int>(tree.names.size());
  }

  Program compile() {
    program_.result = emit_node(tree_.root, static_cast<int>(tree_.names.size()));
    return std::move(program_);
  }

 private:
  [[nodiscard]] const Node& node_at(int index) const {
    return tree_.nodes[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::int16_t here() const {
    return static_cast<std::int16_t>(program_.instructions.size());
  }

  std::size_t emit(Opcode opcode, std::uint32_t offset, int dst, int a, int b) {
    program_.frame_size = std::max(program_.frame_size, dst + 1);
    program_.instructions.push_back({opcode, static_cast<std::int16_t>(dst),
                                     static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)});
    program_.offsets.push_back(offset);
    return program_.instructions.size() - 1;
  }

  void set_target(std::size_t instruction) { program_.instructions[instruction].b = here(); }

  int add_constant(const Cell& cell) {
    program_.constants.push_back(cell);
    return -static_cast<int>(program_.constants.size());
  }

  int add_constant(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      return add_constant(Cell(&program_.strings.emplace_back(*text)));
    }
    return add_constant(to_cell(value, program_.arithmetic));
  }

  /// Emits the code of a node and returns the operand that holds its result: `dst`, or wherever a
  /// leaf already is. Uses the temporaries from `dst` upwards.
  int emit_node(int index, int dst) {
    const Node& node = node_at(index);
    switch (node.operation) {
      case Operation::constant:
        return add_constant(node.value);
      case Operation::name:
        return node.name;
      case Operation::all_of:
        return emit_joined(node, dst, Opcode::and_first, Opcode::and_next);
      case Operation::any_of:
        return emit_joined(node, dst, Opcode::or_first, Opcode::or_next);
      case Operation::chain:
        return emit_chain(node, dst);
      case Operation::member:
        return emit_member(node, dst);
      case Operation::choose:
        return emit_choose(node, dst);
      default:
        return emit_operation(node, dst);
    }
  }

  /// Unary and binary operations; more operands (min, max) are taken from left to right.
  int emit_operation(const Node& node, int dst) {
    int result = emit_node(node.children.front(), dst);
    if (node.children.size() == 1) return emit_or_fold(node, dst, result, result);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const int right = emit_node(node.children[i], dst + 1);
      result = emit_or_fold(node, dst, result, right);
    }
    return result;
  }

  /// Operations on constants are done here and now, unless they fail: then it is the reader's error
  /// to see, at run time and only when that code is reached.
  int emit_or_fold(const Node& node, int dst, int a, int b) {
    if (a < 0 && b < 0) {
      const Cell folded = apply(node.operation, constant(a), constant(b), program_.arithmetic);
      if (folded.kind != CellKind::fault) return add_constant(folded);
    }
    emit(to_opcode(node.operation), node.offset, dst, a, b);
    return dst;
  }

  [[nodiscard]] const Cell& constant(int operand) const {
    return program_.constants[static_cast<std::size_t>(-1 - operand)];
  }

  /// Gathers parts of an `and` or `or` in dst; each part may decide the whole.
  class Gathering {
   public:
    Gathering(Compiler& compiler, int dst, Opcode first, Opcode next)
        : compiler_(compiler), dst_(dst), opcode_(first), next_(next) {}

    void add(int operand, std::uint32_t offset) {
      jumps_.push_back(compiler_.emit(opcode_, offset, dst_, operand, 0));
      opcode_ = next_;
    }

    void finish() {
      for (const std::size_t jump : jumps_) compiler_.set_target(jump);
      compiler_.program_.guarded.push_back({static_cast<std::int16_t>(jumps_.front() + 1),
                                            compiler_.here(), static_cast<std::int16_t>(dst_)});
    }

   private:
    Compiler& compiler_;
    int dst_;
    Opcode opcode_;
    Opcode next_;
    std::vector<std::size_t> jumps_;
  };

  int emit_joined(const Node& node, int dst, Opcode first, Opcode next) {
    Gathering gathering(*this, dst, first, next);
    for (const int child : node.children) {
      gathering.add(emit_node(child, dst + 1), node_at(child).offset);
    }
    gathering.finish();
    return dst;
  }

  /// a < b < c is a < b and b < c, with b computed once: each operand keeps a temporary of its own.
  int emit_chain(const Node& node, int dst) {
    Gathering gathering(*this, dst, Opcode::and_first, Opcode::and_next);
    const int comparison = dst + 1;
    int left = emit_node(node.children.front(), dst + 2);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const int right = emit_node(node.children[i], dst + 2 + static_cast<int>(i));
      emit(to_opcode(node.comparisons[i - 1]), node.offset, comparison, left, right);
      gathering.add(comparison, node.offset);
      left = right;
    }
    gathering.finish();
    return dst;
  }

  /// value in [a, b] is value == a or value == b.
  int emit_member(const Node& node, int dst) {
    Gathering gathering(*this, dst, Opcode::or_first, Opcode::or_next);
    const int value = emit_node(node.children.front(), dst + 1);
    const int equal = dst + 2;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const int candidate = emit_node(node.children[i], equal);
      emit(to_opcode(Operation::equal), node.offset, equal, value, candidate);
      gathering.add(equal, node.offset);
    }
    gathering.finish();
    return dst;
  }

  int emit_choose(const Node& node, int dst) {
    const int condition = emit_node(node.children[0], dst);
    const std::uint32_t at_condition = node_at(node.children[0]).offset;
    const std::size_t branch = emit(Opcode::branch, at_condition, dst, condition, 0);
    move_to(emit_node(node.children[1], dst), dst);
    const std::size_t jump = emit(Opcode::jump, node.offset, dst, 0, 0);
    set_target(branch);
    move_to(emit_node(node.children[2], dst), dst);
    set_target(jump);
    return dst;
  }

  void move_to(int operand, int dst) {
    if (operand != dst) emit(Opcode::move, 0, dst, operand, 0);
  }

  const Tree& tree_;
  Program program_;
};

}  // namespace

Program compile(const Tree& tree, Arithmetic arithmetic) {
  return Compiler(tree, arithmetic).compile();
}

}  // namespace kiln::expression
