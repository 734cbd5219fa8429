// Text to tree: inja parses, this file turns its nodes into ours. The only file that includes inja.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <inja/inja.hpp>

#include "core/suggest.hpp"
#include "templates/template_scan.hpp"
#include "templates/template_tree.hpp"

namespace kiln {
namespace {

using Op = inja::FunctionStorage::Operation;

std::string symbol_of(Op operation) {
  switch (operation) {
    case Op::Not:
      return "not";
    case Op::And:
      return "and";
    case Op::Or:
      return "or";
    case Op::In:
      return "in";
    case Op::Equal:
      return "==";
    case Op::NotEqual:
      return "!=";
    case Op::Greater:
      return ">";
    case Op::GreaterEqual:
      return ">=";
    case Op::Less:
      return "<";
    case Op::LessEqual:
      return "<=";
    case Op::Add:
      return "+";
    case Op::Subtract:
      return "-";
    case Op::Multiplication:
      return "*";
    case Op::Power:
      return "^";
    case Op::Modulo:
      return "%";
    default:
      return "";  // '/' and '.' do not pass check_template_text
  }
}

Value value_of(const inja::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  return json.is_string() ? Value(json.get<std::string>()) : Value(json.dump());
}

/// Walks inja's tree once and builds ours.
class Converter : public inja::NodeVisitor {
 public:
  Converter(const ParsedTemplate& parsed, const LineBreaks& line_breaks)
      : parsed_(parsed), line_breaks_(line_breaks) {}

  std::vector<TemplateNode> nodes_of(const inja::BlockNode& block) {
    std::vector<TemplateNode> outer = std::exchange(nodes_, {});
    block.accept(*this);
    return std::exchange(nodes_, std::move(outer));
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(parsed_.where(position), message);
  }

  TemplateExpression expression_of(const inja::ExpressionListNode& list, std::size_t position) {
    if (!list.root) fail(position, "an expression is missing here");
    return expression_of(*list.root);
  }

  TemplateExpression expression_of(const inja::ExpressionNode& node) {
    expression_ = {};
    expression_.position = node.pos;
    node.accept(*this);
    return std::move(expression_);
  }

  void visit(const inja::BlockNode& block) override {
    for (const auto& node : block.nodes) node->accept(*this);
  }

  void visit(const inja::TextNode& node) override {
    std::size_t begin = node.pos;
    const std::size_t end = node.pos + node.length;
    const auto gone = line_breaks_.find(begin);
    if (gone != line_breaks_.end()) begin = std::min(gone->second, end);
    if (begin < end) add(TemplateNode::Kind::text, begin).length = end - begin;
  }

  void visit(const inja::ExpressionListNode& node) override {
    TemplateExpression expression = expression_of(node, node.pos);
    if (expression.kind == TemplateExpression::Kind::literal) {
      fail(node.pos,
           "this expression is a plain literal ('{{' opens an expression; for C text write '{ {')");
    }
    add(TemplateNode::Kind::output, node.pos).expression = std::move(expression);
  }

  void visit(const inja::LiteralNode& node) override {
    if (!node.value.is_array()) {
      expression_.value = value_of(node.value);
      return;
    }
    TemplateList list;
    for (const auto& element : node.value) list.push_back(value_of(element));
    expression_.value = std::move(list);
  }

  void visit(const inja::DataNode& node) override {
    expression_.kind = TemplateExpression::Kind::name;
    expression_.name = node.name;
  }

  void visit(const inja::FunctionNode& node) override {
    TemplateExpression call;
    call.position = node.pos;
    bool named = !node.name.empty();
    call.kind = named ? TemplateExpression::Kind::call : TemplateExpression::Kind::operation;
    call.name = named ? node.name : symbol_of(node.operation);
    for (const auto& argument : node.arguments) call.arguments.push_back(expression_of(*argument));
    if (named) check_call(call);
    expression_ = std::move(call);
  }

  void check_call(const TemplateExpression& call) const {
    const TemplateFunction* function = find_template_function(call.name);
    if (function == nullptr) {
      std::vector<std::string> names;
      for (const auto& known : template_functions()) names.push_back(known.name);
      fail(call.position, "unknown function '" + call.name + "'" + did_you_mean(call.name, names));
    }
    if (function->arguments != static_cast<int>(call.arguments.size())) {
      fail(call.position, "'" + call.name + "' is called with " +
                              std::to_string(call.arguments.size()) + " arguments; it is " +
                              function->signature);
    }
  }

  void visit(const inja::ForArrayStatementNode& node) override {
    TemplateNode loop = statement(TemplateNode::Kind::loop, node.pos);
    loop.name = node.value;
    loop.expression = expression_of(node.condition, node.pos);
    loop.body = nodes_of(node.body);
    nodes_.push_back(std::move(loop));
  }

  void visit(const inja::IfStatementNode& node) override {
    TemplateNode branch = statement(TemplateNode::Kind::branch, node.pos);
    branch.expression = expression_of(node.condition, node.pos);
    branch.body = nodes_of(node.true_statement);
    if (node.has_false_statement) branch.otherwise = nodes_of(node.false_statement);
    nodes_.push_back(std::move(branch));
  }

  void visit(const inja::IncludeStatementNode& node) override {
    TemplateNode& include = add(TemplateNode::Kind::include, node.pos);
    include.name = node.file;
    std::size_t tag = parsed_.text.rfind("{%", node.pos);
    std::size_t line = parsed_.text.rfind('\n', node.pos);
    line = line == std::string::npos ? 0 : line + 1;
    if (tag == std::string::npos || tag < line) return;  // a line statement: no indent
    std::string before = parsed_.text.substr(line, tag - line);
    if (before.find_first_not_of(" \t") == std::string::npos) include.indent = before;
  }

  void visit(const inja::SetStatementNode& node) override {
    TemplateNode assign = statement(TemplateNode::Kind::assign, node.pos);
    assign.name = node.key;
    assign.expression = expression_of(node.expression, node.pos);
    nodes_.push_back(std::move(assign));
  }

  void visit(const inja::ForObjectStatementNode& node) override {
    fail(node.pos, "a loop has one name: for x in list");
  }
  // Refused by check_template_text, or never instantiated.
  void visit(const inja::ExtendsStatementNode& node) override {
    fail(node.pos, "'extends' is not supported");
  }
  void visit(const inja::BlockStatementNode& node) override {
    fail(node.pos, "'block' is not supported");
  }
  void visit(const inja::ExpressionNode&) override {}
  void visit(const inja::StatementNode&) override {}
  void visit(const inja::ForStatementNode&) override {}

  static TemplateNode statement(TemplateNode::Kind kind, std::size_t position) {
    TemplateNode node;
    node.kind = kind;
    node.position = position;
    return node;
  }

  TemplateNode& add(TemplateNode::Kind kind, std::size_t position) {
    nodes_.push_back(statement(kind, position));
    return nodes_.back();
  }

  const ParsedTemplate& parsed_;
  const LineBreaks& line_breaks_;
  std::vector<TemplateNode> nodes_;
  TemplateExpression expression_;
};

/// inja with our functions known to its parser, and no way to a file.
std::unique_ptr<inja::Environment> make_environment() {
  auto environment = std::make_unique<inja::Environment>();
  environment->set_trim_blocks(false);  // the scan knows which line breaks go: LineBreaks
  environment->set_lstrip_blocks(true);
  environment->set_search_included_templates_in_files(false);
  for (const auto& function : template_functions()) {
    environment->add_callback(function.name, [](inja::Arguments&) { return inja::json(); });
  }
  return environment;
}

InputError located(const std::string& file, const inja::InjaError& error) {
  SourceLocation where{file, static_cast<int>(error.location.line),
                       static_cast<int>(error.location.column)};
  constexpr std::string_view kUnknown = "unknown function ";
  if (error.message.compare(0, kUnknown.size(), kUnknown) != 0) return {where, error.message};
  std::string name = error.message.substr(kUnknown.size());
  if (const TemplateFunction* function = find_template_function(name)) {
    return {where, "'" + name + "' is called without arguments; it is " + function->signature};
  }
  std::vector<std::string> names;
  for (const auto& known : template_functions()) names.push_back(known.name);
  return {where, "unknown function '" + name + "'" + did_you_mean(name, names)};
}

}  // namespace

SourceLocation ParsedTemplate::where(std::size_t position) const {
  auto after = std::upper_bound(line_starts.begin(), line_starts.end(), position);
  auto line = after - line_starts.begin();  // line_starts[0] is 0, so this counts from 1
  return {file, static_cast<int>(line), static_cast<int>(position - *std::prev(after)) + 1};
}

ParsedTemplate parse_template(const std::string& file, const std::string& text) {
  ScannedTemplate scanned = check_template_text(file, text);
  ParsedTemplate parsed{file, file.substr(file.rfind('/') + 1), std::move(scanned.text), {0}, {}};
  for (std::size_t i = 0; i < parsed.text.size(); ++i) {
    if (parsed.text[i] == '\n') parsed.line_starts.push_back(i + 1);
  }
  try {
    inja::Template tree = make_environment()->parse(parsed.text);
    parsed.nodes = Converter(parsed, scanned.line_breaks).nodes_of(tree.root);
  } catch (const inja::InjaError& error) {
    throw located(file, error);
  } catch (const inja::json::exception&) {
    throw InputError({file, 0, 0}, "malformed list or number in a template expression");
  }
  return parsed;
}

}  // namespace kiln
