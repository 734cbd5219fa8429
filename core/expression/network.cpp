// SPDX-License-Identifier: Apache-2.0
#include "core/expression/network.hpp"

#include "core/expression/operations.hpp"

namespace kiln::expression {
namespace {

NetworkOpcode to_network_opcode(Operation operation) {
  return static_cast<NetworkOpcode>(operation);
}

/// The next part of an `and` (decided by false) or an `or` (decided by true). Where the parts so
/// far are unknown and the next one fails, the whole is unknown and stays so.
Cell join(const Cell& so_far, const Cell& next, bool decisive) {
  constexpr std::int64_t kSettled = 1;
  if (so_far.kind == CellKind::fault) return so_far;
  const Cell truth = to_condition(so_far);
  if (truth.kind == CellKind::boolean && truth.boolean == decisive) return so_far;
  const bool unknown = so_far.kind == CellKind::unknown;
  if (unknown && so_far.integer == kSettled) return so_far;
  const Cell part = next.kind == CellKind::fault ? next : to_condition(next);
  if (part.kind == CellKind::fault) {
    if (!unknown) return part;
    Cell settled = Cell::unknown();
    settled.integer = kSettled;
    return settled;
  }
  if (part.kind == CellKind::unknown) return Cell::unknown();
  return unknown && part.boolean != decisive ? so_far : next;
}

/// The value itself: it may be the result. A fault where it has no truth value.
Cell first_part(const Cell& cell) {
  if (cell.kind == CellKind::fault) return cell;
  const Cell part = to_condition(cell);
  if (part.kind == CellKind::fault) return part;
  return part.kind == CellKind::unknown ? Cell::unknown() : cell;
}

Cell select(const Cell& condition, const Cell& then, const Cell& otherwise) {
  const Cell value = first_part(condition);
  if (value.kind == CellKind::fault || value.kind == CellKind::unknown) return value;
  return to_condition(value).boolean ? then : otherwise;
}

}  // namespace

void run(const NetworkStep& step, Cell* registers) {
  const Cell& a = registers[step.operands[0]];
  const Cell& b = registers[step.operands[1]];
  Cell& result = registers[step.dst];
  switch (step.opcode) {
    case NetworkOpcode::leaf:
      return;
    case NetworkOpcode::truth:
      result = first_part(a);
      return;
    case NetworkOpcode::all_of:
      result = join(a, b, false);
      return;
    case NetworkOpcode::any_of:
      result = join(a, b, true);
      return;
    case NetworkOpcode::select:
      result = select(a, b, registers[step.operands[2]]);
      return;
    default:
      break;
  }
  const auto operation = static_cast<Operation>(step.opcode);
  if (a.kind == CellKind::integer && b.kind == CellKind::integer &&
      try_integers(operation, a.integer, b.integer, result)) {
    return;
  }
  if (a.kind == CellKind::fault) {
    result = a;
  } else if (b.kind == CellKind::fault) {
    result = b;
  } else {
    result = apply(operation, a, b, Arithmetic::exact);
  }
}

/// Adds one tree, children before parents.
class Network::Builder {
 public:
  Builder(Network& network, const Tree& tree, std::span<const Register> names)
      : network_(network), tree_(tree), names_(names) {}

  Register add(int index) {
    const Node& node = tree_.nodes[static_cast<std::size_t>(index)];
    switch (node.operation) {
      case Operation::constant:
        return network_.add_cell(network_.own(node.value));
      case Operation::name:
        return names_[static_cast<std::size_t>(node.name)];
      case Operation::all_of:
        return joined(node, NetworkOpcode::all_of);
      case Operation::any_of:
        return joined(node, NetworkOpcode::any_of);
      case Operation::chain:
        return chain(node);
      case Operation::member:
        return member(node);
      case Operation::choose:
        return network_.add_step(NetworkOpcode::select, add(node.children[0]),
                                 add(node.children[1]), add(node.children[2]));
      default:
        return operation(node);
    }
  }

 private:
  Register operation(const Node& node) {
    Register result = add(node.children.front());
    if (node.children.size() == 1) return step(node.operation, result, result);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      result = step(node.operation, result, add(node.children[i]));
    }
    return result;
  }

  Register joined(const Node& node, NetworkOpcode opcode) {
    Register result = truth(add(node.children.front()));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Register part = add(node.children[i]);
      result = network_.add_step(opcode, result, part, part);
    }
    return result;
  }

  /// a < b < c is a < b and b < c.
  Register chain(const Node& node) {
    Register left = add(node.children.front());
    Register result = 0;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Register right = add(node.children[i]);
      const Register part = step(node.comparisons[i - 1], left, right);
      result = i == 1 ? truth(part) : network_.add_step(NetworkOpcode::all_of, result, part, part);
      left = right;
    }
    return result;
  }

  /// value in [a, b] is value == a or value == b.
  Register member(const Node& node) {
    const Register value = add(node.children.front());
    Register result = 0;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Register part = step(Operation::equal, value, add(node.children[i]));
      result = i == 1 ? truth(part) : network_.add_step(NetworkOpcode::any_of, result, part, part);
    }
    return result;
  }

  Register truth(Register part) {
    return network_.add_step(NetworkOpcode::truth, part, part, part);
  }
  Register step(Operation operation, Register a, Register b) {
    return network_.add_step(to_network_opcode(operation), a, b, b);
  }

  Network& network_;
  const Tree& tree_;
  std::span<const Register> names_;
};

Register Network::add_variable() { return add_leaf(Cell::unknown(), false); }

Register Network::add_constant(const Value* value) {
  return add_cell(value != nullptr ? own(*value) : Cell::unknown());
}

Register Network::add(const Tree& tree, std::span<const Register> names) {
  return Builder(*this, tree, names).add(tree.root);
}

Cell Network::own(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return to_cell(value, Arithmetic::exact);
  const auto known = owned_.find(*text);
  if (known != owned_.end()) return Cell(known->second);
  const std::string* const mine = &strings_.emplace_back(*text);
  owned_.emplace(*text, mine);
  return Cell(mine);
}

Register Network::add_leaf(const Cell& cell, bool constant) {
  const auto reg = static_cast<Register>(cells_.size());
  steps_.push_back({NetworkOpcode::leaf, reg, {reg, reg, reg}});
  cells_.push_back(cell);
  constant_.push_back(constant);
  return reg;
}

Register Network::add_cell(const Cell& cell) {
  std::uint64_t kind = static_cast<std::uint64_t>(cell.kind) << 8 | 0xFF;
  if (cell.kind == CellKind::wide)
    kind |= std::uint64_t{static_cast<std::uint32_t>(cell.high)} << 32;
  const auto [known, added] = known_.try_emplace({kind, bits_of(cell)}, 0);
  if (added) known->second = add_leaf(cell, true);
  return known->second;
}

Register Network::add_step(NetworkOpcode opcode, Register a, Register b, Register c) {
  if (constant_[a] && constant_[b] && constant_[c]) {
    std::array<Cell, 4> cells = {cells_[a], cells_[b], cells_[c], Cell::unknown()};
    run({opcode, 3, {0, 1, 2}}, cells.data());
    return add_cell(cells[3]);
  }
  const std::uint64_t high = static_cast<std::uint64_t>(opcode) | (std::uint64_t{a} << 32);
  const std::uint64_t low = std::uint64_t{b} | (std::uint64_t{c} << 32);
  const auto [known, added] = known_.try_emplace({high, low}, 0);
  if (added) {
    const auto reg = static_cast<Register>(cells_.size());
    known->second = reg;
    steps_.push_back({opcode, reg, {a, b, c}});
    cells_.push_back(Cell::unknown());
    constant_.push_back(false);
  }
  return known->second;
}

}  // namespace kiln::expression
