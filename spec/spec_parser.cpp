// parse_spec: the file's tables into the structs of core/spec.hpp. Types and keys are checked here;
// what needs the whole spec is checked by validate_spec.
// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_parser.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "core/suggest.hpp"
#include "spec/parse_spec.hpp"
#include "spec/variant_groups.hpp"

namespace kiln {
namespace {

bool is_identifier(std::string_view name) {
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), word);
}

const std::vector<std::string>& reserved_words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> words = {"and",  "or",   "not",      "in",       "if",
                                      "else", "true", "false",    "backend",  "device",
                                      "min",  "max",  "ceil_div", "round_up", "pow2",
                                      "log2", "abs",  "sizeof",   "warp_size"};
    for (const DType type : all_dtypes()) words.emplace_back(name_of(type));
    return words;
  }();
  return kWords;
}

std::string parse_kernel_name(const TableReader& table) {
  std::string name = table.text("name");
  const auto allowed = [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  if (!is_identifier(name) || !std::all_of(name.begin(), name.end(), allowed)) {
    table.fail("name", fmt::format("'{}' is no kernel name: use lower case letters, digits and _, "
                                   "and begin with a letter",
                                   name));
  }
  return name;
}

// One expression for all outputs, or a table with one for some.
void parse_tolerances(const TableReader& table, const std::vector<Argument>& arguments,
                      Verification& verify) {
  const TomlNode* node = table.find("tolerance");
  if (node == nullptr || node->children.empty()) {
    verify.tolerance = table.optional_expression("tolerance");
    return;
  }
  for (const TomlNode* entry : table.entries("tolerance")) {
    const bool is_output =
        std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
          return argument.name == entry->key && argument.access != Access::read &&
                 argument.access != Access::scalar;
        });
    if (!is_output)
      throw InputError(entry->where, fmt::format("[verify]: 'tolerance': '{}' is no output of the "
                                                 "kernel",
                                                 entry->key));
    verify.tolerances.emplace(entry->key, to_expression(*entry, "[verify]"));
  }
}

Verification parse_verification(const TomlNode& root, const std::string& path,
                                const std::vector<Argument>& arguments) {
  Verification verify;
  const TomlNode* node = root.find("verify");
  if (node == nullptr) {
    throw InputError(SourceLocation{path, 0, 0},
                     "the spec has no [verify]: say how results are proved (reference, formulas, "
                     "function, [[verify.expected]] or device_reference)");
  }
  const TableReader table(
      *node, "[verify]",
      {"reference", "formulas", "function", "device_reference", "cpu_operations", "sum_length",
       "exact", "input_eps", "tolerance", "differing", "written", "expected"});
  verify.where = node->where;
  verify.reference = table.text_or("reference", "");
  verify.device_reference = table.text_or("device_reference", "");
  verify.cpu_operations = table.optional_expression("cpu_operations");
  verify.sum_length =
      table.find("sum_length") ? table.expression("sum_length") : Expression::parse("1");
  verify.exact = table.optional_expression("exact");
  verify.input_eps = table.optional_expression("input_eps");
  verify.differing = table.optional_expression("differing");
  parse_tolerances(table, arguments, verify);
  for (const TomlNode* entry : table.entries("formulas")) {
    if (!entry->is_text()) {
      throw InputError(entry->text_where,
                       fmt::format("[verify.formulas]: '{}' must be a string", entry->key));
    }
    // Checked against the arguments, and parsed again as a formula, by validate_formulas below.
    verify.formulas.emplace(entry->key, Expression());
  }
  OutsideReference outside;
  if (const TomlNode* function = table.find("function")) {
    for (const char* key : {"reference", "formulas"}) {
      if (table.find(key))
        table.fail(key, fmt::format("'{}' and 'function' exclude each other", key));
    }
    outside.function = parse_outside_function(*function, arguments);
  }
  outside.recorded = parse_recorded(table);
  if (outside.function || !outside.recorded.empty())
    verify.outside = std::make_shared<const OutsideReference>(std::move(outside));
  if (verify.reference.empty() && verify.device_reference.empty() && verify.formulas.empty() &&
      !verify.outside) {
    throw InputError(node->where,
                     "[verify]: one of 'reference', 'formulas', 'function', 'device_reference' and "
                     "[[verify.expected]] is required");
  }
  return verify;
}

// A program proves itself: [command] says how.
Verification no_verification() {
  Verification verify;
  verify.sum_length = Expression::parse("1");
  return verify;
}

// Formulas see the elements of the inputs, the scalars, the problem and the derived values.
std::vector<std::string> formula_names(const KernelSpec& spec) {
  std::vector<std::string> names;
  for (const Argument& argument : spec.arguments) {
    if (argument.access != Access::write) names.push_back(argument.name);
  }
  for (const ProblemField& field : spec.problem) names.push_back(field.name);
  for (const Derived& derived : spec.derived) names.push_back(derived.name);
  for (std::string& name : tunables_of_all(spec)) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());  // an argument may have the name of a field
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void parse_formulas(const TomlNode& root, KernelSpec& spec) {
  if (spec.verify.formulas.empty()) return;
  const std::vector<std::string> names = formula_names(spec);
  for (const TomlNode& entry : root.find("verify")->find("formulas")->children) {
    const Argument* output = spec.find_argument(entry.key);
    if (output == nullptr || output->access == Access::read || output->access == Access::scalar) {
      throw InputError(
          entry.where,
          fmt::format("[verify.formulas]: '{}' is no output of the kernel", entry.key));
    }
    spec.verify.formulas[entry.key] =
        Expression::parse_formula(std::get<std::string>(entry.scalar), names, entry.text_where);
  }
}

Expression parse_written_of(const TomlNode& entry, const KernelSpec& spec) {
  if (!entry.is_text()) {
    throw InputError(entry.text_where,
                     "[verify]: 'written' must be a string, or a table of strings: an expression "
                     "that is true for each element that the kernel writes");
  }
  std::vector<std::string> names = formula_names(spec);
  for (std::string& name : place_names(kMaxNamedDimensions)) names.push_back(std::move(name));
  return Expression::parse_formula(std::get<std::string>(entry.scalar), names, entry.text_where);
}

// One expression for each output of access `write`, or a table with one for some.
void parse_written(const TomlNode& root, KernelSpec& spec) {
  const TomlNode* verify = root.find("verify");
  const TomlNode* node = verify != nullptr ? verify->find("written") : nullptr;
  if (node == nullptr) return;
  if (node->kind != TomlNode::Kind::table) {
    for (const Argument& argument : spec.arguments) {
      if (argument.access == Access::write)
        spec.verify.written[argument.name] = parse_written_of(*node, spec);
    }
    return;
  }
  for (const TomlNode& entry : node->children) {
    const Argument* output = spec.find_argument(entry.key);
    if (output == nullptr || output->access != Access::write) {
      throw InputError(entry.where,
                       fmt::format("[verify.written]: '{}' is no argument with access = \"write\"; "
                                   "elements of others keep the values that they have",
                                   entry.key));
    }
    spec.verify.written[entry.key] = parse_written_of(entry, spec);
  }
}

Cost parse_cost(const TomlNode& root) {
  Cost cost;
  if (const TomlNode* node = root.find("cost")) {
    const TableReader table(*node, "[cost]", {"bytes", "flops"});
    cost.bytes = table.optional_expression("bytes");
    cost.flops = table.optional_expression("flops");
  }
  return cost;
}

}  // namespace

void check_identifier(const std::string& name, const SourceLocation& where, std::string_view what) {
  if (is_identifier(name)) return;
  throw InputError(where, fmt::format("'{}' is no name for {}: use a letter, then letters, digits "
                                      "and _",
                                      name, what));
}

bool is_expression_word(const std::string& name) {
  const std::vector<std::string>& words = reserved_words();
  return std::find(words.begin(), words.end(), name) != words.end();
}

void check_name(const std::string& name, const SourceLocation& where, std::string_view what) {
  check_identifier(name, where, what);
  if (is_expression_word(name)) {
    throw InputError(
        where,
        fmt::format("'{}' is a word of the expression language and cannot name {}", name, what));
  }
}

std::string table_title(std::string_view prefix, std::string_view name) {
  return fmt::format("[{}.{}]", prefix, name);
}

std::vector<Constraint> parse_constraints(const TableReader& table, std::string_view key) {
  std::vector<Constraint> out;
  for (const TomlNode* node : table.tables(key)) {
    const TableReader entry(*node, fmt::format("[[{}]]", key), {"require", "because"});
    out.push_back({entry.expression("require"), entry.text("because")});
  }
  return out;
}

std::vector<Derived> parse_derived(const TableReader& table, std::string_view key) {
  std::vector<Derived> out;
  for (const TomlNode* entry : table.entries(key)) {
    check_name(entry->key, entry->where, "a derived value");
    out.push_back({entry->key, to_expression(*entry, fmt::format("[{}]: '{}'", key, entry->key))});
  }
  return out;
}

KernelSpec parse_spec(const std::string& text, const std::string& path, SpecOrigin origin) {
  TomlNode root = parse_toml(text, path);
  root.where = {path, 0, 0};
  const TableReader table(
      root, "the spec",
      {"name", "summary", "problem", "problem_rules", "derived", "distance", "arguments", "verify",
       "cost", "metrics", "groups", "variants", "command"});
  KernelSpec spec;
  spec.path = path;
  spec.text = text;
  spec.name = parse_kernel_name(table);
  spec.summary = table.text_or("summary", "");
  for (const TomlNode* node : table.entries("problem")) {
    spec.problem.push_back(parse_problem_field(*node));
  }
  spec.problem_rules = parse_constraints(table, "problem_rules");
  spec.derived = parse_derived(table, "derived");
  for (const TomlNode* node : table.tables("distance")) {
    spec.distance.push_back(parse_distance_term(*node));
  }
  if (const TomlNode* node = table.find("command")) {
    for (const char* key : {"arguments", "verify"}) {
      if (table.find(key)) {
        table.fail(key, fmt::format("'{}' is for kernels: a spec with [command] has none", key));
      }
    }
    spec.command = std::make_shared<const CommandSpec>(parse_command(*node));
  }
  for (const TomlNode* node : table.tables("arguments")) {
    for (Argument& argument : parse_arguments(*node)) spec.arguments.push_back(std::move(argument));
  }
  const VariantKind kind = spec.command ? VariantKind::command : VariantKind::kernel;
  VariantGroups groups(table, kind);
  for (const TomlNode* node : table.tables("variants")) {
    spec.variants.push_back(parse_variant(*node, kind, groups));
  }
  groups.check_all_used();
  spec.verify = spec.command ? no_verification() : parse_verification(root, path, spec.arguments);
  parse_formulas(root, spec);
  parse_written(root, spec);
  spec.config_values = config_values_of(spec);
  spec.cost = parse_cost(root);
  for (const TomlNode* node : table.entries("metrics")) spec.metrics.push_back(parse_metric(*node));
  if (origin == SpecOrigin::user) validate_spec(spec);
  return spec;
}

}  // namespace kiln
