// Evaluates the nodes of a template's tree, and keeps the template line of each line it writes.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_evaluator.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "templates/template_functions.hpp"

namespace kiln {
namespace {

using expression::Node;
using expression::Operation;

constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxNodes = 500'000;
// Of expressions, elements of lists and pieces of text: a fraction of a second.
constexpr std::size_t kMaxSteps = 5'000'000;
constexpr std::size_t kTextPiece = 32;    // bytes of text that are copied in one step
constexpr std::size_t kBytesOfLine = 16;  // that a line costs beside its text

/// Collects text into lines; a line takes the origin of the first visible character on it.
class LineWriter {
 public:
  /// `line` is that of the template `from`. For template text it advances with the text; for a
  /// value it stays where the tag is.
  void write(std::string_view text, const std::string& from, int line, bool moves) {
    bytes += text.size();
    while (true) {
      const std::size_t end = text.find('\n');
      add(text.substr(0, end), from, line);
      if (end == std::string_view::npos) return;
      end_line();
      text.remove_prefix(end + 1);
      if (moves) ++line;
    }
  }

  void end_line() {
    bytes += kBytesOfLine;
    while (!line_.text.empty() && (line_.text.back() == ' ' || line_.text.back() == '\t'))
      line_.text.pop_back();
    bool blank = line_.text.empty();
    bool after_open = lines.empty() || lines.back().text.empty() || lines.back().text.back() == '{';
    if (!(blank && after_open)) {
      bool closes = !blank && line_.text[line_.text.find_first_not_of(" \t")] == '}';
      if (closes && !lines.empty() && lines.back().text.empty()) lines.pop_back();
      lines.push_back(std::move(line_));
    }
    line_ = {};
  }

  void finish() {
    if (!line_.text.empty()) end_line();
    while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  }

  std::string indent;  // in front of every line that is not empty
  std::vector<RenderedLine> lines;
  std::size_t bytes = 0;

 private:
  void add(std::string_view piece, const std::string& from, int line) {
    for (std::size_t end = 0; !piece.empty();
         piece.remove_prefix(std::min(end + 1, piece.size()))) {
      end = std::min(piece.find('\r'), piece.size());
      if (end == 0) continue;
      if (line_.text.empty()) {
        line_.text = indent;
        bytes += indent.size();
      }
      line_.text += piece.substr(0, end);
      const bool begins = line_.origin.empty() && piece.find_first_not_of(" \t") < end;
      if (begins) line_.origin = from + ":" + std::to_string(line);
    }
  }

  RenderedLine line_;
};

class Evaluator {
 public:
  Evaluator(const TemplateSet& templates, const TemplateInput& input)
      : templates_(templates), input_(input), names_(templates.names.slots().size()) {
    for (const auto& [name, value] : input.values) {
      const auto slot = templates.names.slots().find(name);
      if (slot != templates.names.slots().end())
        names_[static_cast<std::size_t>(slot->second)] = {value, &name, false};
    }
  }

  TemplateOutput run(const std::string& name) {
    file(name);
    writer_.finish();
    return {std::move(writer_.lines), std::move(read_)};
  }

 private:
  /// What a name means at the moment.
  struct Name {
    std::optional<TemplateValue> value;
    const std::string* given = nullptr;  ///< its name, if the value is one of TemplateInput
    bool is_local = false;               ///< a loop or `set` defined it
  };

  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(current_->where(position), message);
  }

  /// Gives a fault of `work` its place.
  template <typename Work>
  auto at(std::size_t position, Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const TemplateFault& fault) {
      fail(position, fault.what());
    }
  }

  void step(std::size_t position, std::size_t count) {
    steps_ += count;
    if (steps_ > kMaxSteps) fail(position, "the template takes too much work (5 million steps)");
  }

  // --- Names ---

  [[nodiscard]] Name& name_at(int slot) { return names_[static_cast<std::size_t>(slot)]; }

  /// Defines a local name; what the name meant before comes back with end_scope().
  void define(int slot, TemplateValue value) {
    shadowed_.emplace_back(slot, std::exchange(name_at(slot), {std::move(value), nullptr, true}));
  }

  void end_scope(std::size_t begin) {
    for (; shadowed_.size() > begin; shadowed_.pop_back())
      name_at(shadowed_.back().first) = std::move(shadowed_.back().second);
  }

  /// The value, noted as read; nullptr where there is none.
  const TemplateValue* find(int slot) {
    const Name& name = name_at(slot);
    if (name.given != nullptr) read_.insert(*name.given);
    return name.value ? &*name.value : nullptr;
  }

  // --- Nodes ---

  void file(const std::string& name) {
    const ParsedTemplate* outer = std::exchange(current_, &templates_.files.at(name));
    const std::size_t scope = shadowed_.size();
    nodes(current_->nodes);
    end_scope(scope);
    current_ = outer;
  }

  void nodes(const std::vector<TemplateNode>& all) {
    for (const TemplateNode& node : all) this->node(node);
  }

  void node(const TemplateNode& node) {
    if (++visited_ > kMaxNodes)
      fail(node.position, "the template does not come to an end (500000 nodes)");
    step(node.position, 1);
    if (writer_.bytes > kMaxTextBytes) fail(node.position, "the template writes more than 8 MiB");
    switch (node.kind) {
      case TemplateNode::Kind::text:
        return writer_.write(std::string_view(current_->text).substr(node.position, node.length),
                             current_->name, node.line, true);
      case TemplateNode::Kind::output:
        return output(node);
      case TemplateNode::Kind::loop:
        return loop(node);
      case TemplateNode::Kind::branch:
        return branch(node);
      case TemplateNode::Kind::include:
        return include(node);
      case TemplateNode::Kind::assign:
        return assign(node.slot, value(node.expression));
      case TemplateNode::Kind::arm:
        return;  // its branch looks at it
    }
  }

  void output(const TemplateNode& node) {
    expression_ = &node.expression;
    const std::string text = template_text(scalar(node.expression.root()));
    writer_.write(text, current_->name, node.line, false);
  }

  void loop(const TemplateNode& node) {
    const TemplateValue values = value(node.expression);
    const auto* list = std::get_if<TemplateList>(&values);
    if (list == nullptr) {
      fail(node.expression.root().offset,
           "a loop needs a list: range(n), steps(a, b, c) or [1, 2]");
    }
    const std::size_t scope = shadowed_.size();
    for (std::size_t i = 0; i < list->size(); ++i) {
      define(node.slot, (*list)[i]);
      define(NameTable::kIndex, static_cast<std::int64_t>(i));
      define(NameTable::kIndex1, static_cast<std::int64_t>(i + 1));
      define(NameTable::kIsFirst, i == 0);
      define(NameTable::kIsLast, i + 1 == list->size());
      nodes(node.body);
      end_scope(scope);
    }
  }

  void branch(const TemplateNode& node) {
    for (const TemplateNode& arm : node.body) {
      if (arm.expression.is_empty() || truth(arm.expression)) return nodes(arm.body);
    }
  }

  void include(const TemplateNode& node) {
    std::string outer = writer_.indent;
    writer_.indent += node.indent;
    file(node.name);
    writer_.indent = std::move(outer);
  }

  // Changes the local of that name, or begins one that lives until its loop or file ends.
  void assign(int slot, TemplateValue value) {
    if (name_at(slot).is_local) {
      name_at(slot).value = std::move(value);
    } else {
      define(slot, std::move(value));
    }
  }

  // --- Expressions ---

  TemplateValue value(const TemplateExpression& expression) {
    expression_ = &expression;
    return value(expression.root());
  }

  bool truth(const TemplateExpression& expression) {
    expression_ = &expression;
    return truth(expression.root());
  }

  [[nodiscard]] const Node& child(const Node& node, std::size_t i) const {
    return expression_->tree.nodes[static_cast<std::size_t>(node.children[i])];
  }

  TemplateValue value(const Node& node) {
    TemplateValue result = evaluated(node);
    step(node.offset, 1 + steps_for(result));
    return result;
  }

  static std::size_t steps_for(const TemplateValue& value) {
    if (const auto* list = std::get_if<TemplateList>(&value)) return list->size();
    const auto* text = std::get_if<std::string>(&std::get<Value>(value));
    return text == nullptr ? 0 : text->size() / kTextPiece;
  }

  TemplateValue evaluated(const Node& node) {
    switch (node.operation) {
      case Operation::constant:
        return node.value;
      case Operation::name:
        return named(node);
      case Operation::exists:
        return find(expression_->slots[static_cast<std::size_t>(node.name)]) != nullptr;
      case Operation::logical_not:
        return !truth(child(node, 0));
      case Operation::all_of:
      case Operation::any_of:
        return joined(node);
      case Operation::choose:
        return value(child(node, truth(child(node, 0)) ? 1 : 2));
      case Operation::chain:
        return chain(node);
      case Operation::list:
        return list(node);
      case Operation::member:
      case Operation::contained:
        return contains(node);
      default:
        return node.operation < Operation::first_of_dialect ? operation(node) : call(node);
    }
  }

  TemplateValue named(const Node& node) {
    const auto index = static_cast<std::size_t>(node.name);
    if (const TemplateValue* found = find(expression_->slots[index])) return *found;
    const std::string& name = expression_->tree.names[index];
    fail(node.offset, "'" + name +
                          "' has no value here: a tunable whose 'when' is false, or a 'set' of "
                          "a branch not taken (ask exists(\"" +
                          name + "\") first)");
  }

  Value scalar(const Node& node) {
    const TemplateValue result = value(node);
    return at(node.offset, [&] { return scalar_of(result); });
  }

  bool truth(const Node& node) {
    const Value condition = scalar(node);
    return at(node.offset, [&] {
      return std::get<bool>(apply_template_operation(Operation::to_boolean, condition, condition));
    });
  }

  bool joined(const Node& node) {
    const bool decisive = node.operation == Operation::any_of;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (truth(child(node, i)) == decisive) return decisive;
    }
    return !decisive;
  }

  Value apply(const Node& node, Operation operation, const Value& left, const Value& right) {
    return at(node.offset, [&] { return apply_template_operation(operation, left, right); });
  }

  /// Unary and binary operations; more operands (min, max) are taken from left to right.
  Value operation(const Node& node) {
    Value result = scalar(child(node, 0));
    if (node.children.size() == 1) return apply(node, node.operation, result, result);
    for (std::size_t i = 1; i < node.children.size(); ++i)
      result = apply(node, node.operation, result, scalar(child(node, i)));
    return result;
  }

  /// a < b < c is a < b and b < c.
  bool chain(const Node& node) {
    Value left = scalar(child(node, 0));
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      Value right = scalar(child(node, i + 1));
      if (!std::get<bool>(apply(node, node.comparisons[i], left, right))) return false;
      left = std::move(right);
    }
    return true;
  }

  TemplateList list(const Node& node) {
    TemplateList values;
    for (std::size_t i = 0; i < node.children.size(); ++i) values.push_back(scalar(child(node, i)));
    return values;
  }

  /// value in [a, b], or value in list.
  bool contains(const Node& node) {
    const Value wanted = scalar(child(node, 0));
    const auto is_wanted = [&](const Value& value) {
      return std::get<bool>(apply(node, Operation::equal, wanted, value));
    };
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const TemplateValue candidate = value(child(node, i));
      const auto* list = std::get_if<TemplateList>(&candidate);
      if (list == nullptr && node.operation == Operation::contained)
        fail(child(node, i).offset, "expected a list after 'in', got a value");
      if (list == nullptr ? is_wanted(std::get<Value>(candidate))
                          : std::any_of(list->begin(), list->end(), is_wanted))
        return true;
    }
    return false;
  }

  TemplateValue call(const Node& node) {
    const auto function = static_cast<TemplateFunction>(node.operation);
    std::vector<TemplateValue> arguments;
    for (std::size_t i = 0; i < node.children.size(); ++i)
      arguments.push_back(value(child(node, i)));
    return at(node.offset, [&] {
      if (function == TemplateFunction::formula)
        read_.insert(template_text(scalar_of(arguments[0])));
      return call_template_function(function, arguments, input_.formulas);
    });
  }

  const TemplateSet& templates_;
  const TemplateInput& input_;
  const ParsedTemplate* current_ = nullptr;
  const TemplateExpression* expression_ = nullptr;
  LineWriter writer_;
  std::vector<Name> names_;                     // by slot
  std::vector<std::pair<int, Name>> shadowed_;  // by definitions of open scopes, oldest first
  std::set<std::string> read_;
  std::size_t visited_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

TemplateOutput evaluate_template(const TemplateSet& templates, const std::string& file,
                                 const TemplateInput& input) {
  return Evaluator(templates, input).run(file);
}

}  // namespace kiln
