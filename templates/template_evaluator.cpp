// Evaluates the nodes of a template's tree, and keeps the template line of each line it writes.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_evaluator.hpp"

#include <algorithm>
#include <utility>

#include "core/suggest.hpp"
#include "templates/template_functions.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxNodes = 500'000;
// Of expressions, elements of lists, names looked through and pieces of text: a fraction of a
// second.
constexpr std::size_t kMaxSteps = 5'000'000;
constexpr std::size_t kTextPiece = 32;    // bytes of text that are copied in one step
constexpr std::size_t kBytesOfLine = 16;  // that a line costs beside its text

/// Collects text into lines; a line takes the origin of the first visible character on it.
class LineWriter {
 public:
  void write(std::string_view text, const ParsedTemplate& from, std::size_t position, bool moves) {
    // For template text the line advances with the text; for a value it stays where the tag is.
    for (std::size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '\n') {
        end_line();
        continue;
      }
      if (c == '\r') continue;
      if (line_.text.empty() && !indent.empty()) {
        line_.text = indent;
        bytes += indent.size();
      }
      line_.text += c;
      if (c != ' ' && c != '\t' && line_.origin.empty()) {
        SourceLocation where = from.where(moves ? position + i : position);
        line_.origin = from.name + ":" + std::to_string(where.line);
      }
    }
    bytes += text.size();
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
  RenderedLine line_;
};

class Evaluator {
 public:
  Evaluator(const TemplateSet& templates, const TemplateInput& input)
      : templates_(templates), input_(input) {}

  TemplateOutput run(const std::string& name) {
    file(name);
    writer_.finish();
    return {std::move(writer_.lines), std::move(read_)};
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(current_->where(position), message);
  }

  void file(const std::string& name) {
    const ParsedTemplate* outer = std::exchange(current_, &templates_.at(name));
    std::size_t locals = locals_.size();
    nodes(current_->nodes);
    locals_.resize(locals);
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
                             *current_, node.position, true);
      case TemplateNode::Kind::output:
        return output(node);
      case TemplateNode::Kind::loop:
        return loop(node);
      case TemplateNode::Kind::branch:
        return nodes(truth(node.expression) ? node.body : node.otherwise);
      case TemplateNode::Kind::include:
        return include(node);
      case TemplateNode::Kind::assign:
        return assign(node.name, value(node.expression));
    }
  }

  void step(std::size_t position, std::size_t count) {
    steps_ += count;
    if (steps_ > kMaxSteps) fail(position, "the template takes too much work (5 million steps)");
  }

  static std::size_t steps_for(const TemplateValue& value) {
    if (const auto* list = std::get_if<TemplateList>(&value)) return list->size();
    const auto* text = std::get_if<std::string>(&std::get<Value>(value));
    return text == nullptr ? 0 : text->size() / kTextPiece;
  }

  void output(const TemplateNode& node) {
    TemplateValue result = value(node.expression);
    std::string text = at(node.position, [&] { return template_text(result); });
    writer_.write(text, *current_, node.position, false);
  }

  void loop(const TemplateNode& node) {
    TemplateValue values = value(node.expression);
    const auto* list = std::get_if<TemplateList>(&values);
    if (list == nullptr)
      fail(node.expression.position, "a loop needs a list: range(n), steps(a, b, c) or [1, 2]");
    std::size_t locals = locals_.size();
    for (std::size_t i = 0; i < list->size(); ++i) {
      locals_.emplace_back(node.name, (*list)[i]);
      locals_.emplace_back("loop.index", static_cast<std::int64_t>(i));
      locals_.emplace_back("loop.index1", static_cast<std::int64_t>(i + 1));
      locals_.emplace_back("loop.is_first", i == 0);
      locals_.emplace_back("loop.is_last", i + 1 == list->size());
      nodes(node.body);
      locals_.resize(locals);
    }
  }

  void include(const TemplateNode& node) {
    std::string outer = writer_.indent;
    writer_.indent += node.indent;
    file(node.name);
    writer_.indent = std::move(outer);
  }

  // Changes the innermost local of that name, or begins one that lives until its loop or file ends.
  void assign(const std::string& name, TemplateValue value) {
    auto found = std::find_if(locals_.rbegin(), locals_.rend(),
                              [&](const auto& local) { return local.first == name; });
    if (found != locals_.rend()) {
      found->second = std::move(value);
    } else {
      locals_.emplace_back(name, std::move(value));
    }
  }

  TemplateValue value(const TemplateExpression& expression) {
    TemplateValue result = evaluated(expression);
    step(expression.position, 1 + locals_.size() + steps_for(result));
    return result;
  }

  TemplateValue evaluated(const TemplateExpression& expression) {
    switch (expression.kind) {
      case TemplateExpression::Kind::literal:
        return expression.value;
      case TemplateExpression::Kind::name:
        return named(expression);
      case TemplateExpression::Kind::call:
        return call(expression);
      case TemplateExpression::Kind::operation:
        return operation(expression);
    }
    return {};
  }

  TemplateValue named(const TemplateExpression& expression) {
    if (const TemplateValue* found = find(expression.name)) return *found;
    fail(expression.position,
         "'" + expression.name +
             "' has no value here: a tunable whose 'when' is false, or a 'set' of " +
             "a branch not taken (ask exists(\"" + expression.name + "\") first)");
  }

  const TemplateValue* find(const std::string& name) {
    auto local = std::find_if(locals_.rbegin(), locals_.rend(),
                              [&](const auto& l) { return l.first == name; });
    if (local != locals_.rend()) return &local->second;
    auto given = input_.values.find(name);
    if (given == input_.values.end()) return nullptr;
    read_.insert(name);
    scratch_ = given->second;
    return &scratch_;
  }

  TemplateValue call(const TemplateExpression& call) {
    if (call.name == "choose") return value(call.arguments[truth(call.arguments[0]) ? 1 : 2]);
    std::vector<TemplateValue> arguments;
    for (const TemplateExpression& argument : call.arguments) arguments.push_back(value(argument));
    return at(call.position, [&]() -> TemplateValue {
      if (call.name == "exists") return find(template_text(arguments[0])) != nullptr;
      if (call.name == "formula") read_.insert(template_text(arguments[0]));
      return call_template_function(call.name, arguments, input_.formulas);
    });
  }

  TemplateValue operation(const TemplateExpression& operation) {
    const auto& arguments = operation.arguments;
    if (operation.name == "not") return !truth(arguments[0]);
    if (operation.name == "and") return truth(arguments[0]) && truth(arguments[1]);
    if (operation.name == "or") return truth(arguments[0]) || truth(arguments[1]);
    TemplateValue left = value(arguments[0]);
    TemplateValue right = value(arguments[1]);
    return at(operation.position,
              [&] { return apply_template_operation(operation.name, left, right); });
  }

  bool truth(const TemplateExpression& expression) {
    TemplateValue condition = value(expression);
    return at(expression.position, [&] { return template_truth(condition); });
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

  const TemplateSet& templates_;
  const TemplateInput& input_;
  const ParsedTemplate* current_ = nullptr;
  LineWriter writer_;
  std::vector<std::pair<std::string, TemplateValue>> locals_;
  std::set<std::string> read_;
  TemplateValue scratch_;
  std::size_t visited_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

TemplateOutput evaluate_template(const TemplateSet& templates, const std::string& file,
                                 const TemplateInput& input) {
  return Evaluator(templates, input).run(file);
}

}  // namespace kiln
