// Compares the names that a spec offers to a template with the names that the template reads.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_lint.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/command_spec.hpp"
#include "core/device.hpp"
#include "core/source_text.hpp"
#include "core/suggest.hpp"
#include "spec/visit_expressions.hpp"
#include "templates/plain_source.hpp"
#include "templates/template_functions.hpp"

namespace kiln {
namespace {

const std::vector<std::string> kLoopNames = {"loop.index", "loop.index1", "loop.is_first",
                                             "loop.is_last"};

std::vector<std::string> as_list(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

void add_problem_names(const KernelSpec& spec, TemplateNames& names) {
  for (const ProblemField& field : spec.problem) {
    if (!field.specialize) {
      names.hidden[field.name] =
          "is a run-time field of the problem: mark it 'specialize = true' to use it in a template";
    } else if (field.type == FieldType::formula) {
      names.formulas.insert(field.name);
      names.hidden[field.name] = "is a formula: write formula(\"" + field.name + "\", real)";
    } else {
      names.visible.insert(field.name);
    }
  }
}

/// Derived values stay hidden as soon as something they depend on is.
void add_derived_names(const std::vector<Derived>& derived, TemplateNames& names) {
  for (const Derived& value : derived) {
    const auto& uses = value.value.names();
    auto hidden = std::find_if(uses.begin(), uses.end(), [&](const std::string& used) {
      return used != "device.warp_size" && names.visible.count(used) == 0 &&
             names.formulas.count(used) == 0;
    });
    if (hidden == uses.end()) {
      names.visible.insert(value.name);
    } else {
      names.hidden[value.name] = "depends on '" + *hidden + "', which templates cannot see";
    }
  }
}

// A template that is included from many places is walked as often.
constexpr std::size_t kMaxLintedNodes = 500'000;
constexpr std::size_t kMaxFindings = 1000;
constexpr std::size_t kMaxIncludes = 32;  // inside each other: every walk recurses
constexpr std::size_t kNamesAStep = 16;   // looked through in the time that a node takes

/// Walks one variant's templates in the order of rendering, with the names that are set so far.
class Linter {
 public:
  Linter(const TemplateSet& templates, const TemplateNames& names)
      : templates_(templates), names_(names) {}

  void file(const std::string& name) {
    const ParsedTemplate* outer = current_;
    current_ = &templates_.files.at(name);
    including_.push_back(name);
    std::size_t locals = locals_.size();
    nodes(current_->nodes);
    locals_.resize(locals);
    including_.pop_back();
    current_ = outer;
  }

  std::vector<LintFinding> findings;
  std::set<std::string> used;  // visible names that were read

 private:
  void error(std::size_t position, const std::string& message) {
    findings.push_back({current_->where(position), message});
    is_full_ = is_full_ || findings.size() >= kMaxFindings;
  }

  void nodes(const std::vector<TemplateNode>& all) {
    for (const TemplateNode& node : all) this->node(node);
  }

  void node(const TemplateNode& node) {
    using Kind = TemplateNode::Kind;
    if (is_full_) return;
    visited_ += 1 + locals_.size() / kNamesAStep;
    if (visited_ > kMaxLintedNodes) {
      error(node.position, "the includes of this template do not come to an end (500000 nodes)");
      is_full_ = true;
    }
    if (node.kind == Kind::text) return;
    if (node.kind == Kind::include) return include(node);
    expression(node.expression);
    if (node.kind == Kind::assign) return define(node);
    std::size_t locals = locals_.size();
    if (node.kind == Kind::loop) {
      define(node);
      locals_.insert(locals_.end(), kLoopNames.begin(), kLoopNames.end());
    }
    nodes(node.body);
    if (node.kind == Kind::loop) locals_.resize(locals);
  }

  void define(const TemplateNode& node) {
    if (names_.visible.count(node.name) > 0) {
      error(node.position, "'" + node.name + "' is a name of the spec; take another");
    }
    locals_.push_back(node.name);
  }

  void include(const TemplateNode& node) {
    if (templates_.files.count(node.name) == 0) {
      std::vector<std::string> files;
      for (const auto& [name, parsed] : templates_.files) files.push_back(name);
      bool path = node.name.find_first_of("/\\") != std::string::npos ||
                  node.name.find("..") != std::string::npos;
      error(
          node.position,
          path ? "include '" + node.name + "': only the templates of the spec's own folder, by name"
               : "include '" + node.name + "': no such template in the spec's folder" +
                     did_you_mean(node.name, files));
    } else if (std::find(including_.begin(), including_.end(), node.name) != including_.end()) {
      error(node.position,
            "'" + node.name + "' includes itself: " + comma_list(including_) + ", " + node.name);
    } else if (including_.size() > kMaxIncludes) {
      error(node.position, "more than 32 includes inside each other");
    } else {
      file(node.name);
    }
  }

  /// Children come before their parents, so names in the order of the text.
  void expression(const TemplateExpression& expression) {
    const expression::Tree& tree = expression.tree;
    for (const expression::Node& node : tree.nodes) {
      if (node.operation == expression::Operation::name) {
        name(tree.names[static_cast<std::size_t>(node.name)], node.offset);
      } else if (node.operation == expression::Operation::exists) {
        used.insert(tree.names[static_cast<std::size_t>(node.name)]);
      } else if (static_cast<TemplateFunction>(node.operation) == TemplateFunction::formula) {
        formula(tree.nodes[static_cast<std::size_t>(node.children.front())]);
      }
    }
  }

  void name(const std::string& name, std::size_t position) {
    if (std::find(locals_.begin(), locals_.end(), name) != locals_.end()) return;
    used.insert(name);
    if (names_.visible.count(name) > 0) return;
    if (auto reason = hidden_reason(name)) {
      error(position, "'" + name + "' " + *reason);
    } else {
      std::vector<std::string> known = as_list(names_.visible);
      known.insert(known.end(), locals_.begin(), locals_.end());
      error(position,
            "unknown name '" + name + "'" + did_you_mean(name, known) +
                (follows_pipe(position) ? " (there are no filters: write f(x) for 'x | f')" : ""));
    }
  }

  [[nodiscard]] bool follows_pipe(std::size_t position) const {
    const std::string_view before = std::string_view(current_->text).substr(0, position);
    const std::size_t last = before.find_last_not_of(" \t\r\n");
    return last != std::string_view::npos && before[last] == '|';
  }

  [[nodiscard]] std::optional<std::string> hidden_reason(const std::string& name) const {
    auto found = names_.hidden.find(name);
    if (found != names_.hidden.end()) return found->second;
    const auto& device = device_scope_names();
    if (std::find(device.begin(), device.end(), name) != device.end()) {
      return "is not for templates: they see warp_size only, so that one text serves every device";
    }
    return std::nullopt;
  }

  /// The first argument of formula(). Where it is no plain text, the evaluator checks it.
  void formula(const expression::Node& field) {
    const auto* name = std::get_if<std::string>(&field.value);
    if (field.operation != expression::Operation::constant || name == nullptr) return;
    if (names_.formulas.count(*name) > 0) return;
    auto hidden = names_.hidden.find(*name);
    error(field.offset,
          "'" + *name + "' " +
              (hidden != names_.hidden.end() ? hidden->second
                                             : "is no formula of the problem" +
                                                   did_you_mean(*name, as_list(names_.formulas))));
  }

  const TemplateSet& templates_;
  const TemplateNames& names_;
  const ParsedTemplate* current_ = nullptr;
  std::vector<std::string> locals_;
  std::vector<std::string> including_;
  std::size_t visited_ = 0;
  bool is_full_ = false;  // nothing more is looked at
};

/// The names that a template's own text reads before it sets them.
class FreeNames {
 public:
  void nodes(const std::vector<TemplateNode>& all) {
    for (const TemplateNode& node : all) {
      for (const std::string& name : node.expression.tree.names) {
        if (!set_.contains(name) && !name.starts_with("loop.")) found.insert(name);
      }
      const std::set<std::string> outside = set_;
      if (!node.name.empty() && node.kind != TemplateNode::Kind::include) set_.insert(node.name);
      nodes(node.body);
      if (node.kind == TemplateNode::Kind::loop) set_ = outside;
    }
  }

  std::set<std::string> found;

 private:
  std::set<std::string> set_;
};

/// The names behind "Needs" in the comment at the start of a template.
std::set<std::string> names_in_head(const std::string& text) {
  const std::string head = text.starts_with("{#") ? text.substr(0, text.find("#}")) : "";
  const std::size_t needs = head.find("Needs");
  if (needs == std::string::npos) return {};
  return identifiers_of(head.substr(needs + 5));
}

void note(const Expression& expression, std::set<std::string>& used) {
  used.insert(expression.names().begin(), expression.names().end());
}

void note(const std::optional<Expression>& expression, std::set<std::string>& used) {
  if (expression) note(*expression, used);
}

void note(const std::vector<Expression>& expressions, std::set<std::string>& used) {
  for (const Expression& expression : expressions) note(expression, used);
}

std::vector<TextPattern> lines_of(const CommandSpec& command) {
  std::vector<TextPattern> lines = command.build;
  lines.push_back(command.run);
  for (const auto& [name, value] : command.environment) lines.push_back(value);
  if (command.check) lines.push_back(*command.check);
  return lines;
}

/// Names whose values a binary must not depend on, as it serves every size, and why not.
std::map<std::string, std::string> run_time_names(const KernelSpec& spec, const Variant& variant) {
  std::map<std::string, std::string> names;
  for (const ProblemField& field : spec.problem) {
    if (field.specialize) continue;
    names[field.name] =
        "is a run-time field of the problem: mark it 'specialize = true' to compile it in";
  }
  for (const std::vector<Derived>* derived : {&spec.derived, &variant.derived}) {
    for (const Derived& value : *derived) {
      const std::vector<std::string>& used = value.value.names();
      const auto found = std::find_if(
          used.begin(), used.end(), [&](const std::string& name) { return names.count(name) > 0; });
      if (found != used.end())
        names[value.name] = "depends on '" + *found + "', which is a run-time field";
    }
  }
  return names;
}

/// What is compiled in beside a template: macros, arguments of C++ templates, compiler options.
std::vector<LintFinding> lint_compiled_in(const KernelSpec& spec, const Variant& variant) {
  const std::map<std::string, std::string> run_time = run_time_names(spec, variant);
  std::vector<LintFinding> findings;
  const auto look_at = [&](const Expression& expression, const std::string& what) {
    for (const std::string& name : expression.names()) {
      const auto found = run_time.find(name);
      if (found == run_time.end()) continue;
      findings.push_back({expression.where(), what + ": '" + name + "' " + found->second});
    }
  };
  if (variant.plain && variant.plain->defines) {
    for (const Derived& define : *variant.plain->defines)
      look_at(define.value, "macro '" + define.name + "'");
  }
  for (const Step& step : variant.steps) {
    for (const Expression& hole : step.entry.holes()) look_at(hole, "entry of a step");
  }
  for (const auto& [backend, options] : variant.compiler_options) {
    for (const Expression& hole : options.holes()) look_at(hole, "compiler options");
  }
  return findings;
}

}  // namespace

TemplateNames template_names(const KernelSpec& spec, const Variant& variant) {
  TemplateNames names;
  names.visible.insert("warp_size");
  add_problem_names(spec, names);
  add_derived_names(spec.derived, names);
  for (const Tunable& tunable : variant.tunables) names.visible.insert(tunable.name);
  add_derived_names(variant.derived, names);
  for (const Variant& other : spec.variants) {
    for (const Tunable& tunable : other.tunables) {
      if (names.visible.count(tunable.name) + names.hidden.count(tunable.name) > 0) continue;
      names.hidden[tunable.name] =
          "is a tunable of variant '" + other.name + "', not of '" + variant.name + "'";
    }
  }
  return names;
}

std::set<std::string> names_in_expressions(const Variant& variant) {
  std::set<std::string> used;
  for (const Derived& derived : variant.derived) note(derived.value, used);
  for (const Tunable& tunable : variant.tunables) note(tunable.when, used);
  const auto visit = [&](const char* /*key*/, const Expression& expression) {
    note(expression, used);
  };
  for (const Workspace& workspace : variant.workspaces) visit_expressions(workspace, visit);
  for (const TensorMap& map : variant.tensor_maps) {
    note(map.of, used);
    visit_expressions(map, visit);
  }
  for (const auto& [backend, options] : variant.compiler_options) note(options.holes(), used);
  for (const Step& step : variant.steps) visit_expressions(step, visit);
  return used;
}

std::vector<LintFinding> lint_variant(const KernelSpec& spec, const Variant& variant,
                                      const TemplateSet& templates) {
  if (spec.command) return {};
  if (std::vector<LintFinding> findings = lint_compiled_in(spec, variant); !findings.empty())
    return findings;
  if (variant.plain) return lint_plain_source(spec, variant);
  if (templates.files.count(variant.template_file) == 0) {
    std::vector<std::string> files;
    for (const auto& [name, parsed] : templates.files) files.push_back(name);
    return {{variant.where, "variant '" + variant.name + "': no template '" +
                                variant.template_file + "' in the spec's folder" +
                                did_you_mean(variant.template_file, files)}};
  }
  const TemplateNames names = template_names(spec, variant);
  Linter linter(templates, names);
  linter.file(variant.template_file);
  return std::move(linter.findings);
}

std::vector<LintFinding> lint_heads(const TemplateSet& templates) {
  std::vector<LintFinding> findings;
  for (const auto& [name, parsed] : templates.files) {
    if (!name.starts_with("shared/")) continue;
    FreeNames free;
    free.nodes(parsed.nodes);
    const std::string needs =
        free.found.empty() ? "" : "Needs " + comma_list(as_list(free.found)) + ".";
    if (parsed.text.starts_with("{#") && names_in_head(parsed.text) == free.found) continue;
    findings.push_back({parsed.where(0),
                        "a shared template begins with a comment of what it does and what it "
                        "reads: expected {# ... " +
                            needs + " #}"});
  }
  return findings;
}

std::vector<LintFinding> unused_tunables(const KernelSpec& spec, const Variant& variant,
                                         const TemplateSet& templates) {
  std::set<std::string> used = names_in_expressions(variant);
  if (spec.command) {
    for (const TextPattern& line : lines_of(*spec.command)) note(line.holes(), used);
  } else if (variant.plain) {
    used.merge(names_in_plain_source(spec, variant));
  } else {
    const TemplateNames names = template_names(spec, variant);
    Linter linter(templates, names);
    linter.file(variant.template_file);
    used.merge(linter.used);
  }
  std::vector<LintFinding> findings;
  for (const Tunable& tunable : variant.tunables) {
    if (tunable.values.size() == 1 || used.count(tunable.name) > 0) continue;
    findings.push_back({tunable.where, "tunable '" + tunable.name + "' of variant '" +
                                           variant.name + "' is used by nothing: expected its " +
                                           (spec.command    ? "command lines"
                                            : variant.plain ? "source"
                                                            : "template") +
                                           ", a derived value or a step to read it"});
  }
  return findings;
}

}  // namespace kiln
