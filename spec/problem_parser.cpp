// [problem.NAME] and [[arguments]]: what a call of the kernel is given.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "core/suggest.hpp"
#include "spec/spec_parser.hpp"

namespace kiln {
namespace {

// The enumerator that the text of `key` names; the error lists them all.
template <typename Enum>
Enum parse_word(const TableReader& table, std::string_view key, Enum last) {
  const std::string text = table.text(key);
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    names.emplace_back(name_of(static_cast<Enum>(i)));
  }
  throw InputError(table.find(key)->text_where,
                   fmt::format("{}: '{}' must be one of {}, not '{}'", table.title(), key,
                               comma_list(names), text));
}

bool is_numeric_type(FieldType type) {
  return type == FieldType::integer || type == FieldType::floating;
}

// A value of the file as the field's type; the error says which type was expected.
Value field_value(const TableReader& table, std::string_view key, FieldType type, Value value) {
  if (type == FieldType::floating) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  }
  const bool right = type == FieldType::integer    ? std::holds_alternative<std::int64_t>(value)
                     : type == FieldType::floating ? std::holds_alternative<double>(value)
                     : type == FieldType::boolean  ? std::holds_alternative<bool>(value)
                                                   : std::holds_alternative<std::string>(value);
  if (!right) {
    table.fail(key, fmt::format("'{}' holds {}, which is no value of type {}", key, to_text(value),
                                name_of(type)));
  }
  if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) {
    table.fail(key, fmt::format("'{}' must be a finite number", key));
  }
  return value;
}

void parse_field_values(const TableReader& table, ProblemField& field) {
  for (Value& value : table.values("values")) {
    field.values.push_back(field_value(table, "values", field.type, std::move(value)));
    const auto* text = std::get_if<std::string>(&field.values.back());
    if (field.type == FieldType::dtype && !parse_dtype(*text)) {
      table.fail("values", fmt::format("'{}' is no element type", *text));
    }
    if (text != nullptr && text->find_first_of("'\"\n") != std::string::npos) {
      table.fail("values", "a value cannot contain quotes or line breaks");
    }
  }
  const bool needs_values = field.type == FieldType::text || field.type == FieldType::dtype;
  if (needs_values && field.values.empty()) {
    table.fail("values",
               fmt::format("a field of type {} needs 'values', the list of what it may be",
                           name_of(field.type)));
  }
}

void parse_field_bounds(const TableReader& table, ProblemField& field) {
  for (const char* key : {"min", "max"}) {
    std::optional<Value> bound = table.value(key);
    if (!bound) continue;
    if (!is_numeric_type(field.type)) {
      table.fail(key, fmt::format("'{}' is for fields of type int and float only", key));
    }
    (std::string_view(key) == "min" ? field.minimum : field.maximum) =
        field_value(table, key, field.type, *bound);
  }
  if (field.minimum && field.maximum && as_double(*field.minimum) > as_double(*field.maximum)) {
    table.fail("max", "'max' is smaller than 'min'");
  }
}

// Text of a dtype or string field that is an expression and no value: values have neither blanks
// nor parentheses.
bool is_computed(const ProblemField& field, const std::string& text) {
  return field.type != FieldType::formula && text.find_first_of(" (") != std::string::npos;
}

// Formulas are taken as they stand; other fields may have a computed default.
void parse_field_default(const TableReader& table, ProblemField& field) {
  if (!table.find("default")) return;
  if (is_numeric_type(field.type) || field.type == FieldType::boolean) {
    field.fallback = table.expression("default");
    return;
  }
  const std::string text = table.text("default");
  if (is_computed(field, text)) {
    field.fallback = table.expression("default");
    return;
  }
  if (text.find_first_of("'\"\\\n") != std::string::npos) {
    table.fail("default", "a default cannot contain quotes, backslashes or line breaks");
  }
  if (field.type == FieldType::formula) {
    (void)Expression::parse_formula(text, field.variables, table.find("default")->text_where);
  } else {
    const Value value = text;
    std::vector<std::string> allowed;
    for (const Value& entry : field.values) allowed.push_back(to_text(entry));
    if (std::find(field.values.begin(), field.values.end(), value) == field.values.end()) {
      table.fail("default", fmt::format("the default '{}' is not among the values {}", text,
                                        comma_list(allowed)));
    }
  }
  field.fallback = Expression::defer("'" + text + "'", table.find("default")->where);
}

double weight_of(const TableReader& table) {
  const std::optional<Value> given = table.value("weight");
  if (!given) return 1;
  const double weight = as_double(field_value(table, "weight", FieldType::floating, *given));
  if (weight < 0) table.fail("weight", "'weight' must not be negative");
  return weight;
}

constexpr const char* kFillKeys[] = {"fill", "fill_verify", "fill_extra", "low", "high"};
constexpr const char* kInputKeys[] = {"fill", "fill_verify", "fill_extra",      "low",
                                      "high", "elements",    "elements_verify", "special"};

void check_scalar(const TableReader& table, const Argument& argument) {
  if (table.find("shape")) table.fail("shape", "a scalar has no 'shape'");
  for (const char* key : kInputKeys) {
    const bool is_range = std::string_view(key) == "low" || std::string_view(key) == "high";
    if (!table.find(key) || (is_range && argument.example)) continue;
    table.fail(key, is_range ? fmt::format("'{}' is for scalars with an 'example'", key)
                             : fmt::format("a scalar has no '{}'", key));
  }
  if (argument.value.has_value() == argument.example.has_value()) {
    table.fail("value",
               "a scalar needs either 'value' (computed from the problem) or 'example' "
               "(the caller passes it)");
  }
}

/// Elements that are computed leave nothing to fill.
void check_elements(const TableReader& table) {
  if (!table.find("elements")) {
    if (table.find("elements_verify"))
      table.fail("elements_verify", "'elements_verify' needs 'elements'");
    return;
  }
  for (const char* key : {"elements", "elements_verify"}) {
    if (table.find(key) && table.expressions(key).empty())
      table.fail(key, fmt::format("'{}' needs at least one expression", key));
  }
  for (const char* key : kFillKeys) {
    if (table.find(key))
      table.fail(key, fmt::format("an argument has either 'elements' or '{}'", key));
  }
}

void check_buffer(const TableReader& table, const Argument& argument) {
  for (const char* key : {"value", "example"}) {
    if (table.find(key)) table.fail(key, fmt::format("only a scalar has '{}'", key));
  }
  if (argument.shape.empty()) {
    table.fail("shape", "a buffer needs 'shape', the elements per dimension");
  }
  if (argument.access == Access::write) {
    for (const char* key : kInputKeys) {
      if (table.find(key)) {
        table.fail(key, fmt::format("'{}' is for inputs: a write argument is never filled", key));
      }
    }
  }
  check_elements(table);
}

}  // namespace

ProblemField parse_problem_field(const TomlNode& node) {
  const TableReader table(
      node, table_title("problem", node.key),
      {"type", "doc", "values", "min", "max", "default", "specialize", "weight", "variables"});
  ProblemField field;
  field.name = node.key;
  field.where = node.where;
  check_name(field.name, node.where, "a problem field");
  field.doc = table.text_or("doc", "");
  field.type = parse_word(table, "type", FieldType::formula);
  field.specialize = table.flag_or("specialize", false);
  field.variables = table.texts("variables");
  if (field.type != FieldType::formula && table.find("variables")) {
    table.fail("variables", "'variables' is for fields of type formula only");
  }
  parse_field_values(table, field);
  parse_field_bounds(table, field);
  parse_field_default(table, field);
  field.weight = weight_of(table);
  return field;
}

DistanceTerm parse_distance_term(const TomlNode& node) {
  const TableReader table(node, "[[distance]]", {"of", "weight"});
  return {table.expression("of"), weight_of(table)};
}

namespace {

Argument read_argument(const TableReader& table, const std::string& name,
                       const SourceLocation& where, std::optional<Expression> value) {
  Argument argument;
  argument.where = where;
  argument.name = name;
  check_identifier(name, where, "an argument");
  argument.doc = table.text_or("doc", "");
  argument.access = parse_word(table, "access", Access::scalar);
  argument.dtype = table.expression("dtype");
  argument.shape = table.expressions("shape");
  argument.when = table.optional_expression("when");
  argument.value = std::move(value);
  argument.example = table.optional_expression("example");
  argument.fill = table.find("fill") ? table.expression("fill") : Expression::defer("uniform");
  argument.fill_verify =
      table.find("fill_verify") ? table.expression("fill_verify") : argument.fill;
  argument.fill_extra = table.optional_expression("fill_extra");
  argument.low = table.optional_expression("low");
  argument.high = table.optional_expression("high");
  argument.special = table.optional_expression("special");
  argument.elements = table.expressions("elements");
  argument.elements_verify =
      table.find("elements_verify") ? table.expressions("elements_verify") : argument.elements;
  if (argument.access == Access::scalar) {
    check_scalar(table, argument);
  } else {
    check_buffer(table, argument);
  }
  return argument;
}

}  // namespace

std::vector<Argument> parse_arguments(const TomlNode& node) {
  const TableReader table(
      node, "[[arguments]]",
      {"name", "names", "doc", "access", "dtype", "shape", "when", "value", "example", "fill",
       "fill_verify", "fill_extra", "low", "high", "special", "elements", "elements_verify"});
  const TomlNode* names = table.find("names");
  if (names == nullptr) {
    const std::string name = table.text("name");
    return {read_argument(table, name, table.find("name")->text_where,
                          table.optional_expression("value"))};
  }
  const std::vector<std::string> texts = table.texts("names");
  if (texts.empty()) table.fail("names", "'names' needs at least one name");
  if (parse_word(table, "access", Access::scalar) != Access::scalar)
    table.fail("access", "'names' is for scalars: expected \"scalar\"");
  for (const char* key : {"name", "value", "example"}) {
    if (table.find(key))
      table.fail(key,
                 fmt::format("'names' are values of the problem by these names: no '{}'", key));
  }
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const SourceLocation& where = names->children[i].text_where;
    arguments.push_back(read_argument(table, texts[i], where, Expression::defer(texts[i], where)));
  }
  return arguments;
}

}  // namespace kiln
