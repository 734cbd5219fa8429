// Types and conversions of the dialect, literals, formulas and lists; arithmetic is that of specs.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_functions.hpp"

#include <cctype>
#include <cstdint>

#include "core/dtype.hpp"
#include "core/expression/operations.hpp"
#include "core/suggest.hpp"
#include "templates/template_literals.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;
using expression::Function;
using expression::Operation;

constexpr std::int64_t kMaxListLength = 65536;
constexpr std::size_t kMaxTextValue = 65536;

constexpr Operation own(TemplateFunction function) { return static_cast<Operation>(function); }

std::string described(const Value& value) {
  return std::string(type_name(value)) + " '" + to_text(value) + "'";
}

std::int64_t integer(const TemplateValue& value) {
  const Value& v = scalar_of(value);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return *i;
  throw TemplateFault("expected a whole number, got the " + described(v));
}

/// A text that doubles again and again ends here.
std::string bounded(std::string text) {
  if (text.size() > kMaxTextValue) throw TemplateFault("a text of more than 65536 characters");
  return text;
}

DType dtype(const TemplateValue& value) {
  const Value& v = scalar_of(value);
  const auto* name = std::get_if<std::string>(&v);
  if (auto type = name ? parse_dtype(*name) : std::nullopt) return *type;
  throw TemplateFault("expected an element type (f32, u8, ...), got the " + described(v));
}

/// Types that a kernel stores as codes of 8 or 16 bits and computes with in f32.
bool is_stored_as_code(DType type) {
  return is_floating(type) && size_of(type) < size_of(DType::f32);
}

std::string storage_type(DType type) {
  std::string name(name_of(type));
  return is_stored_as_code(type) ? name + "_t" : name;
}

DType arithmetic_type(DType type) {
  if (is_stored_as_code(type)) return DType::f32;
  if (type == DType::i8 || type == DType::i16) return DType::i32;
  return type == DType::u8 || type == DType::u16 ? DType::u32 : type;
}

/// The name of `type` in the words that convert it, such as F16 in F16_TO_F32.
std::string word_of(DType type) {
  std::string word(name_of(type));
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

std::string load(DType type, const std::string& expression) {
  if (is_stored_as_code(type)) return word_of(type) + "_TO_F32(" + expression + ")";
  const DType real = arithmetic_type(type);
  return real == type ? expression : "(" + std::string(name_of(real)) + ")(" + expression + ")";
}

std::string store(DType type, const std::string& expression) {
  if (is_stored_as_code(type)) return "F32_TO_" + word_of(type) + "(" + expression + ")";
  const bool is_narrowed = arithmetic_type(type) != type;
  return is_narrowed ? "(" + storage_type(type) + ")(" + expression + ")" : expression;
}

std::string formula(const std::string& name, DType type,
                    const std::map<std::string, Expression>& formulas) {
  auto found = formulas.find(name);
  if (found == formulas.end()) {
    std::vector<std::string> names;
    names.reserve(formulas.size());
    for (const auto& [known, expression] : formulas) names.push_back(known);
    throw TemplateFault("'" + name + "' is no formula of the problem" + did_you_mean(name, names));
  }
  return found->second.to_c(arithmetic_type(type) == DType::f64 ? "double" : "float");
}

TemplateList steps(std::int64_t first, std::int64_t end, std::int64_t stride) {
  if (stride == 0) throw TemplateFault("a stride of zero never ends");
  TemplateList result;
  for (std::int64_t i = first; stride > 0 ? i < end : i > end;) {
    if (static_cast<std::int64_t>(result.size()) == kMaxListLength)
      throw TemplateFault("a list of more than 65536 values");
    result.emplace_back(i);
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  return result;
}

Value element(const TemplateList& list, std::int64_t index) {
  if (index < 0 || index >= static_cast<std::int64_t>(list.size())) {
    throw TemplateFault("index " + std::to_string(index) + " of a list of " +
                        std::to_string(list.size()));
  }
  return list[static_cast<std::size_t>(index)];
}

}  // namespace

std::span<const Function> template_functions() {
  static constexpr auto kEverywhere = expression::Availability::everywhere;
  static constexpr Function kFunctions[] = {
      {"ctype", own(TemplateFunction::ctype), 1, kEverywhere},
      {"real", own(TemplateFunction::real), 1, kEverywhere},
      {"load", own(TemplateFunction::load), 2, kEverywhere},
      {"store", own(TemplateFunction::store), 2, kEverywhere},
      {"literal", own(TemplateFunction::literal), 2, kEverywhere},
      {"formula", own(TemplateFunction::formula), 2, kEverywhere},
      {"range", own(TemplateFunction::range), 1, kEverywhere},
      {"steps", own(TemplateFunction::steps), 3, kEverywhere},
      {"length", own(TemplateFunction::length), 1, kEverywhere},
      {"at", own(TemplateFunction::at), 2, kEverywhere},
      {"exists", Operation::exists, 1, kEverywhere},
      {"choose", Operation::choose, 3, kEverywhere},
      {"bytes", Operation::size_of, 1, kEverywhere},
      {"div", Operation::floor_divide, 2, kEverywhere},
      {"mod", Operation::modulo, 2, kEverywhere},
      {"add", Operation::add, 2, kEverywhere},
      {"sub", Operation::subtract, 2, kEverywhere},
      {"mul", Operation::multiply, 2, kEverywhere},
  };
  return kFunctions;
}

TemplateValue call_template_function(TemplateFunction function,
                                     std::span<const TemplateValue> arguments,
                                     const std::map<std::string, Expression>& formulas) {
  const auto& a = arguments;
  switch (function) {
    case TemplateFunction::ctype:
      return storage_type(dtype(a[0]));
    case TemplateFunction::real:
      return std::string(name_of(arithmetic_type(dtype(a[0]))));
    case TemplateFunction::load:
      return bounded(load(dtype(a[0]), to_text(scalar_of(a[1]))));
    case TemplateFunction::store:
      return bounded(store(dtype(a[0]), to_text(scalar_of(a[1]))));
    case TemplateFunction::literal:
      return c_literal(scalar_of(a[0]), arithmetic_type(dtype(a[1])));
    case TemplateFunction::formula:
      return formula(to_text(scalar_of(a[0])), dtype(a[1]), formulas);
    case TemplateFunction::range:
      return steps(0, integer(a[0]), 1);
    case TemplateFunction::steps:
      return steps(integer(a[0]), integer(a[1]), integer(a[2]));
    case TemplateFunction::length:
      return static_cast<std::int64_t>(list_of(a[0]).size());
    case TemplateFunction::at:
      return element(list_of(a[0]), integer(a[1]));
  }
  return {};
}

Value apply_template_operation(Operation operation, const Value& left, const Value& right) {
  const bool has_text =
      std::holds_alternative<std::string>(left) || std::holds_alternative<std::string>(right);
  if (operation == Operation::add && has_text)
    return bounded(template_text(left) + template_text(right));
  constexpr auto kExact = expression::Arithmetic::exact;
  const Cell a = to_cell(left, kExact);
  const Cell b = to_cell(right, kExact);
  Cell result = apply(operation, a, b, kExact);
  if (result.kind == CellKind::wide) result = Cell(expression::Fault::overflow);
  if (result.kind == CellKind::fault)
    throw TemplateFault(describe_fault(result.fault, operation, a, b));
  return to_value(result);
}

const Value& scalar_of(const TemplateValue& value) {
  if (std::holds_alternative<TemplateList>(value))
    throw TemplateFault("expected a value, got a list");
  return std::get<Value>(value);
}

const TemplateList& list_of(const TemplateValue& value) {
  if (!std::holds_alternative<TemplateList>(value))
    throw TemplateFault("expected a list, got a value");
  return std::get<TemplateList>(value);
}

std::string template_text(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "1" : "0";
  return to_text(value);
}

}  // namespace kiln
