// [[variants]]: an algorithm with its tunables, constraints, workspaces and steps.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "spec/spec_parser.hpp"
#include "spec/variant_groups.hpp"

namespace kiln {
namespace {

// A config stores the index of each value in one byte.
constexpr std::size_t kMaxValues = 255;

/// "[[variants.workspace]]", "[[groups.loads.workspace]]"
std::string list_title(const std::string& owner, std::string_view key) {
  return fmt::format("[[{}.{}]]", owner, key);
}

// Config texts separate with , : and = and are written bare.
/// Text that a line of a compiler or a macro can hold.
bool is_one_line(const std::string& text) {
  constexpr std::size_t kLongest = 1000;
  return text.size() <= kLongest && std::none_of(text.begin(), text.end(), [](unsigned char c) {
           return c < ' ' || c == 0x7F;
         });
}

void check_tunable_values(const TableReader& table, const Tunable& tunable) {
  if (tunable.values.empty()) table.fail("values", "'values' must list at least one value");
  if (tunable.values.size() > kMaxValues) {
    table.fail("values", fmt::format("{} values are too many; at most {} are possible",
                                     tunable.values.size(), kMaxValues));
  }
  for (std::size_t i = 0; i < tunable.values.size(); ++i) {
    const Value& value = tunable.values[i];
    if (value.index() != tunable.values.front().index()) {
      table.fail("values",
                 fmt::format("all values must be of one type; {} is of type {}, {} of "
                             "type {}",
                             to_text(tunable.values.front()), type_name(tunable.values.front()),
                             to_text(value), type_name(value)));
    }
    if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) {
      table.fail("values", "values must be finite numbers");
    }
    if (const auto* text = std::get_if<std::string>(&value); text && !is_one_line(*text)) {
      table.fail("values",
                 "a text value has one line of at most 1000 bytes, without control characters");
    }
    if (std::find(tunable.values.begin(), tunable.values.begin() + static_cast<long>(i), value) !=
        tunable.values.begin() + static_cast<long>(i)) {
      table.fail("values", fmt::format("the value {} appears twice", to_text(value)));
    }
  }
}

/// `default` of the table, or of the group's tunable, as one of the values.
void parse_tunable_default(const TableReader& table, Tunable& tunable) {
  if (const std::optional<Value> given = table.value("default")) tunable.fallback = *given;
  const auto listed =
      std::find_if(tunable.values.begin(), tunable.values.end(),
                   [&](const Value& value) { return is_same_value(value, tunable.fallback); });
  if (listed != tunable.values.end()) {
    tunable.fallback = *listed;  // 64.0 is 64
  } else {
    std::vector<std::string> allowed;
    for (const Value& value : tunable.values) allowed.push_back(to_text(value));
    table.fail("default", fmt::format("the default {} is not among the values {}",
                                      to_text(tunable.fallback), comma_list(allowed)));
  }
}

Tunable parse_tunable(const TomlNode& node, const std::string& owner, const Tunable* shared) {
  const TableReader table(node, table_title(owner + ".tunables", node.key),
                          {"values", "default", "doc", "when"});
  if (shared == nullptr) {
    check_name(node.key, node.where, "a tunable");
    table.require("values", "the list of values it may have");
    table.require("default", "one of the values, safe on every device");
  }
  Tunable tunable = shared != nullptr ? *shared : Tunable();
  tunable.name = node.key;
  tunable.where = node.where;
  tunable.doc = table.text_or("doc", tunable.doc);
  if (table.find("values")) {
    tunable.values = table.values("values");
    check_tunable_values(table, tunable);
  }
  parse_tunable_default(table, tunable);
  if (table.find("when")) tunable.when = table.expression("when");
  return tunable;
}

Workspace parse_workspace(const TomlNode& node, const std::string& owner) {
  const TableReader table(node, list_title(owner, "workspace"),
                          {"name", "dtype", "count", "zeroed", "when"});
  Workspace workspace{table.text("name"), table.expression("dtype"), table.expression("count"),
                      table.flag_or("zeroed", false), table.optional_expression("when")};
  check_identifier(workspace.name, table.find("name")->text_where, "a workspace");
  return workspace;
}

/// Those of an im2col map.
void check_corners(const TableReader& table, const TensorMap& map) {
  constexpr std::size_t kLeastDimensions = 3;
  if (map.shape.size() < kLeastDimensions) {
    table.fail("shape", fmt::format("with 'lower' and 'upper', 'shape' needs 3 to 5 expressions "
                                    "(images, positions, channels), not {}",
                                    map.shape.size()));
  }
  for (const auto& [key, count] :
       {std::pair("lower", map.lower.size()), std::pair("upper", map.upper.size())}) {
    if (count + 2 == map.shape.size()) continue;
    table.fail(table.find(key) ? key : "name",
               fmt::format("'{}' needs one expression for each dimension of 'shape' but the "
                           "outermost and the innermost ({}), not {}",
                           key, map.shape.size() - 2, count));
  }
  if (map.box.size() != 2) {
    table.fail("box", fmt::format("with 'lower' and 'upper', 'box' needs 2 expressions (positions, "
                                  "channels), not {}",
                                  map.box.size()));
  }
}

void check_map_lists(const TableReader& table, const TensorMap& map) {
  constexpr std::size_t kMaxDimensions = 5;
  if (map.shape.empty() || map.shape.size() > kMaxDimensions) {
    table.fail("shape", fmt::format("'shape' needs 1 to {} expressions, not {}", kMaxDimensions,
                                    map.shape.size()));
  }
  const auto check_count = [&](const char* key, std::size_t count) {
    if (count == map.shape.size()) return;
    table.fail(key, fmt::format("'{}' needs as many expressions as 'shape' ({}), not {}", key,
                                map.shape.size(), count));
  };
  const bool is_im2col = table.find("lower") || table.find("upper");
  if (is_im2col) {
    check_corners(table, map);
  } else {
    check_count("box", map.box.size());
  }
  if (table.find("element_strides")) check_count("element_strides", map.element_strides.size());
  if (!map.strides.empty() && map.strides.size() + 1 != map.shape.size()) {
    table.fail("strides", fmt::format("'strides' needs one expression fewer than 'shape' ({}), not "
                                      "{}: the innermost elements are neighbours",
                                      map.shape.size() - 1, map.strides.size()));
  }
}

/// A name alone is a buffer's, even where it is a word of the expression language (`in`).
Expression parse_described_buffer(const TableReader& table) {
  const TomlNode& node = table.require("of", "the name of an argument or workspace");
  const auto* name = std::get_if<std::string>(&node.scalar);
  if (name != nullptr && is_expression_word(*name)) {
    return Expression::defer("'" + *name + "'", node.text_where);
  }
  return table.expression("of");
}

TensorMap parse_tensor_map(const TomlNode& node, const std::string& owner) {
  const TableReader table(
      node, list_title(owner, "tensor_maps"),
      {"name", "of", "dtype", "offset", "shape", "strides", "box", "lower", "upper",
       "element_strides", "swizzle", "l2_promotion", "tf32", "fill", "when"});
  TensorMap map;
  map.where = node.where;
  map.name = table.text("name");
  check_identifier(map.name, table.find("name")->text_where, "a tensor map");
  map.of = parse_described_buffer(table);
  map.dtype = table.optional_expression("dtype");
  map.offset = table.optional_expression("offset");
  map.shape = table.expressions("shape");
  map.strides = table.expressions("strides");
  map.box = table.expressions("box");
  map.lower = table.expressions("lower");
  map.upper = table.expressions("upper");
  map.element_strides = table.expressions("element_strides");
  check_map_lists(table, map);
  map.swizzle = table.optional_expression("swizzle");
  map.promotion = table.optional_expression("l2_promotion");
  map.tf32 = table.optional_expression("tf32");
  const std::string fill = table.text_or("fill", "zero");
  if (fill != "zero" && fill != "nan") {
    table.fail("fill", fmt::format("'fill' is 'zero' or 'nan', not '{}'", fill));
  }
  map.fill_nan = fill == "nan";
  map.when = table.optional_expression("when");
  return map;
}

void check_dimensions(const TableReader& table, const char* key, std::size_t count, bool required) {
  if (count > 3 || (count == 0 && (required || table.find(key)))) {
    table.fail(key, fmt::format("'{}' needs 1 to 3 expressions, not {}", key, count));
  }
}

Step parse_step(const TomlNode& node, const Variant& variant) {
  const TableReader table(node, "[[variants.steps]]",
                          {"entry", "grid", "block", "cluster", "shared_bytes", "local",
                           "programmatic", "arguments", "constants", "clear", "when"});
  Step step;
  step.where = node.where;
  step.when = table.optional_expression("when");
  if (table.find("clear")) {
    for (const char* key : {"entry", "grid", "block", "cluster", "shared_bytes", "local",
                            "programmatic", "arguments", "constants"}) {
      if (table.find(key)) table.fail(key, fmt::format("a step with 'clear' has no '{}'", key));
    }
    step.kind = StepKind::clear;
    step.buffer = table.text("clear");
    return step;
  }
  step.entry = parse_entry(table, variant);
  step.grid = table.expressions("grid");
  step.block = table.expressions("block");
  step.cluster = table.expressions("cluster");
  check_dimensions(table, "grid", step.grid.size(), true);
  check_dimensions(table, "block", step.block.size(), true);
  check_dimensions(table, "cluster", step.cluster.size(), false);
  step.shared_bytes = table.optional_expression("shared_bytes");
  step.local = parse_derived(table, "local");
  step.programmatic = table.optional_expression("programmatic");
  table.require("arguments",
                "the names of arguments, workspaces and tensor maps in the kernel's order");
  step.arguments = table.texts("arguments");
  step.constants = table.texts("constants");
  return step;
}

std::map<std::string, TextPattern> parse_compiler_options(const TableReader& table) {
  std::map<std::string, TextPattern> options;
  const TomlNode* node = table.find("compiler_options");
  if (node == nullptr) return options;
  const TableReader reader(*node, "[variants.compiler_options]", {"cuda", "hip", "opencl"});
  for (const TomlNode& entry : node->children) {
    options[entry.key] = TextPattern::parse(reader.text(entry.key), entry.text_where);
  }
  return options;
}

void parse_template(const TableReader& table, Variant& variant) {
  for (const char* key : {"include", "defines"}) {
    if (table.find(key)) table.fail(key, fmt::format("'{}' is for a plain 'source' only", key));
  }
  table.require("template", "a file in the spec's folder, or a plain 'source'");
  variant.template_file = table.text("template");
  if (!variant.template_file.ends_with(".inja")) {
    table.fail("template", fmt::format("'{}' must be the name of a template, which ends in .inja",
                                       variant.template_file));
  }
  if (variant.template_file.find_first_of("/\\") != std::string::npos ||
      variant.template_file.find("..") != std::string::npos) {
    table.fail("template", fmt::format("'{}' must be the name of a file in the spec's folder",
                                       variant.template_file));
  }
  variant.requires_ = table.optional_expression("requires");
}

Loop parse_loop(const TomlNode& node, const std::vector<Step>& steps) {
  const TableReader table(node, "[variants.loop]",
                          {"entry", "rounds", "flops", "flops_per_cycle", "copied", "read", "ahead",
                           "results", "stored", "prepared", "registers"});
  Loop loop;
  loop.entry = table.text("entry");
  std::vector<std::string> entries;
  for (const Step& step : steps) entries.push_back(step.entry.text());
  if (std::find(entries.begin(), entries.end(), loop.entry) == entries.end()) {
    table.fail("entry", fmt::format("no step of the variant has the entry '{}' (there are: {})",
                                    loop.entry, comma_list(entries)));
  }
  for (const LoopField& field : loop_fields()) {
    const bool is_given = field.fallback == nullptr || table.find(field.key) != nullptr;
    loop.*field.expression =
        is_given ? table.expression(field.key) : Expression::defer(field.fallback);
  }
  return loop;
}

}  // namespace

VariantParts parse_variant_parts(const TableReader& table, const std::string& owner,
                                 const SharedTunable& shared) {
  VariantParts parts;
  for (const TomlNode* entry : table.entries("tunables")) {
    parts.tunables.push_back(parse_tunable(*entry, owner, shared(entry->key)));
  }
  parts.derived = parse_derived(table, "derived");
  parts.constraints = parse_constraints(table, "constraints");
  for (const TomlNode* entry : table.tables("workspace")) {
    parts.workspaces.push_back(parse_workspace(*entry, owner));
  }
  for (const TomlNode* entry : table.tables("tensor_maps")) {
    parts.tensor_maps.push_back(parse_tensor_map(*entry, owner));
  }
  parts.steps = table.tables("steps");
  return parts;
}

Variant parse_variant(const TomlNode& node, VariantKind kind, VariantGroups& groups) {
  const TableReader table(
      node, "[[variants]]",
      {"name", "summary", "use", "template", "source", "include", "defines", "requires", "tunables",
       "derived", "constraints", "workspace", "tensor_maps", "steps", "loop", "compiler_options"});
  Variant variant;
  variant.where = node.where;
  variant.name = table.text("name");
  check_identifier(variant.name, table.find("name")->text_where, "a variant");
  variant.summary = table.text_or("summary", "");
  if (kind == VariantKind::command) {
    for (const char* key : {"template", "source", "include", "defines", "workspace", "tensor_maps",
                            "steps", "loop", "compiler_options"}) {
      if (table.find(key)) table.fail(key, fmt::format("a variant of [command] has no '{}'", key));
    }
    variant.requires_ = table.optional_expression("requires");
  } else if (!table.find("source")) {
    parse_template(table, variant);
  } else if (table.find("template")) {
    table.fail("source", "a variant has either 'template' or 'source'");
  } else {
    parse_plain_source(table, variant);
  }
  VariantParts parts = groups.parts_of(table);
  variant.groups = std::move(parts.groups);
  variant.tunables = std::move(parts.tunables);
  variant.derived = std::move(parts.derived);
  variant.constraints = std::move(parts.constraints);
  variant.workspaces = std::move(parts.workspaces);
  variant.tensor_maps = std::move(parts.tensor_maps);
  for (const TomlNode* step : parts.steps) variant.steps.push_back(parse_step(*step, variant));
  if (variant.steps.empty() && kind == VariantKind::kernel) {
    table.fail("steps", fmt::format("variant '{}' has no [[variants.steps]]", variant.name));
  }
  if (const TomlNode* loop = table.find("loop")) variant.loop = parse_loop(*loop, variant.steps);
  variant.compiler_options = parse_compiler_options(table);
  return variant;
}

}  // namespace kiln
