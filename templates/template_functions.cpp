// Computes what templates call. Whole-number arithmetic is checked: a fault is a message, never a
// wrong constant.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_functions.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>

#include "core/dtype.hpp"
#include "core/suggest.hpp"
#include "templates/template_literals.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMaxListLength = 65536;
constexpr std::size_t kMaxTextValue = 65536;

using Arguments = std::span<const TemplateValue>;

const Value& scalar(const TemplateValue& value) {
  if (std::holds_alternative<TemplateList>(value))
    throw TemplateFault("expected a value, got a list");
  return std::get<Value>(value);
}

const TemplateList& list(const TemplateValue& value) {
  if (!std::holds_alternative<TemplateList>(value))
    throw TemplateFault("expected a list, got a value");
  return std::get<TemplateList>(value);
}

std::string described(const Value& value) {
  return std::string(type_name(value)) + " '" + to_text(value) + "'";
}

std::int64_t integer(const TemplateValue& value) {
  const Value& v = scalar(value);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return *i;
  throw TemplateFault("expected a whole number, got the " + described(v));
}

/// A text that doubles again and again ends here.
std::string bounded(std::string text) {
  if (text.size() > kMaxTextValue) throw TemplateFault("a text of more than 65536 characters");
  return text;
}

std::string text(const TemplateValue& value) { return to_text(scalar(value)); }

DType dtype(const TemplateValue& value) {
  const Value& v = scalar(value);
  const auto* name = std::get_if<std::string>(&v);
  if (auto type = name ? parse_dtype(*name) : std::nullopt) return *type;
  throw TemplateFault("expected an element type (f32, u8, ...), got the " + described(v));
}

std::int64_t checked(const std::string& operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = operation == "+"   ? __builtin_add_overflow(a, b, &result)
                  : operation == "-" ? __builtin_sub_overflow(a, b, &result)
                                     : __builtin_mul_overflow(a, b, &result);
  if (overflow) throw TemplateFault("'" + operation + "' overflows 64 bits");
  return result;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 63) throw TemplateFault("'^' needs an exponent from 0 to 63");
  std::int64_t result = 1;
  while (exponent-- > 0) result = checked("*", result, base);
  return result;
}

// Floored, like `//` and `%` of expressions.
std::int64_t divided(std::int64_t a, std::int64_t b) {
  if (b == 0) throw TemplateFault("division of " + std::to_string(a) + " by zero");
  if (b == -1) return checked("-", 0, a);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) throw TemplateFault("remainder of " + std::to_string(a) + " by zero");
  return b == -1 ? 0 : a - divided(a, b) * b;
}

std::int64_t floor_log2(std::int64_t a) {
  if (a < 1) throw TemplateFault("log2 needs a number from 1 up, got " + std::to_string(a));
  return std::bit_width(static_cast<std::uint64_t>(a)) - 1;
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
  if (type == DType::i8) return DType::i32;
  return type == DType::u8 ? DType::u32 : type;
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
  for (std::int64_t i = first; stride > 0 ? i < end : i > end; i = checked("+", i, stride)) {
    if (static_cast<std::int64_t>(result.size()) == kMaxListLength)
      throw TemplateFault("a list of more than 65536 values");
    result.emplace_back(i);
  }
  return result;
}

std::int64_t extreme(const std::string& name, std::int64_t a, std::int64_t b) {
  return name == "min" ? std::min(a, b) : std::max(a, b);
}

Value arithmetic(const std::string& name, Arguments a) {
  std::int64_t x = integer(a[0]);
  if (name == "log2") return floor_log2(x);
  if (name == "pow2") return x > 0 && std::has_single_bit(static_cast<std::uint64_t>(x));
  std::int64_t y = integer(a[1]);
  if (name == "div") return divided(x, y);
  if (name == "mod") return modulo(x, y);
  if (name == "ceil_div") return checked("-", 0, divided(checked("-", 0, x), y));
  if (name == "round_up") return checked("*", checked("-", 0, divided(checked("-", 0, x), y)), y);
  if (name == "add") return checked("+", x, y);
  if (name == "sub") return checked("-", x, y);
  if (name == "mul") return checked("*", x, y);
  return extreme(name, x, y);
}

bool equal(const Value& a, const Value& b) {
  bool texts = std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b);
  return texts ? a == b : as_double(a) == as_double(b);
}

bool ordered(const std::string& operation, const Value& a, const Value& b) {
  for (const Value* v : {&a, &b}) {
    if (std::holds_alternative<bool>(*v) || std::holds_alternative<std::string>(*v)) {
      throw TemplateFault("'" + operation + "' compares numbers, not the " + described(*v));
    }
  }
  double x = as_double(a);
  double y = as_double(b);
  return operation == "<" ? x < y : operation == "<=" ? x <= y : operation == ">" ? x > y : x >= y;
}

}  // namespace

const std::vector<TemplateFunction>& template_functions() {
  static const std::vector<TemplateFunction> kFunctions = {
      {"ctype", 1, "ctype(dtype)"},
      {"real", 1, "real(dtype)"},
      {"bytes", 1, "bytes(dtype)"},
      {"load", 2, "load(dtype, expression)"},
      {"store", 2, "store(dtype, expression)"},
      {"literal", 2, "literal(value, dtype)"},
      {"formula", 2, "formula(name, real)"},
      {"div", 2, "div(a, b)"},
      {"mod", 2, "mod(a, b)"},
      {"ceil_div", 2, "ceil_div(a, b)"},
      {"round_up", 2, "round_up(a, b)"},
      {"pow2", 1, "pow2(a)"},
      {"log2", 1, "log2(a)"},
      {"min", 2, "min(a, b)"},
      {"max", 2, "max(a, b)"},
      {"add", 2, "add(a, b)"},
      {"sub", 2, "sub(a, b)"},
      {"mul", 2, "mul(a, b)"},
      {"choose", 3, "choose(condition, a, b)"},
      {"range", 1, "range(n)"},
      {"steps", 3, "steps(first, end, stride)"},
      {"length", 1, "length(list)"},
      {"at", 2, "at(list, index)"},
      {"exists", 1, "exists(\"name\")"},
  };
  return kFunctions;
}

const TemplateFunction* find_template_function(const std::string& name) {
  const auto& all = template_functions();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const auto& function) { return function.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TemplateValue call_template_function(const std::string& name,
                                     std::span<const TemplateValue> arguments,
                                     const std::map<std::string, Expression>& formulas) {
  Arguments a = arguments;
  if (name == "ctype") return storage_type(dtype(a[0]));
  if (name == "real") return std::string(name_of(arithmetic_type(dtype(a[0]))));
  if (name == "bytes") return static_cast<std::int64_t>(size_of(dtype(a[0])));
  if (name == "load") return bounded(load(dtype(a[0]), text(a[1])));
  if (name == "store") return bounded(store(dtype(a[0]), text(a[1])));
  if (name == "literal") return c_literal(scalar(a[0]), arithmetic_type(dtype(a[1])));
  if (name == "formula") return formula(text(a[0]), dtype(a[1]), formulas);
  if (name == "range") return steps(0, integer(a[0]), 1);
  if (name == "steps") return steps(integer(a[0]), integer(a[1]), integer(a[2]));
  if (name == "length") return static_cast<std::int64_t>(list(a[0]).size());
  if (name == "at") {
    const TemplateList& values = list(a[0]);
    std::int64_t index = integer(a[1]);
    if (index < 0 || index >= static_cast<std::int64_t>(values.size())) {
      throw TemplateFault("index " + std::to_string(index) + " of a list of " +
                          std::to_string(values.size()));
    }
    return values[static_cast<std::size_t>(index)];
  }
  return arithmetic(name, a);
}

TemplateValue apply_template_operation(const std::string& operation, const TemplateValue& left,
                                       const TemplateValue& right) {
  if (operation == "in") {
    const TemplateList& values = list(right);
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& v) { return equal(scalar(left), v); });
  }
  const Value& a = scalar(left);
  const Value& b = scalar(right);
  if (operation == "==") return equal(a, b);
  if (operation == "!=") return !equal(a, b);
  if (operation[0] == '<' || operation[0] == '>') return ordered(operation, a, b);
  bool text_operand =
      std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b);
  if (operation == "+" && text_operand) return bounded(template_text(left) + template_text(right));
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b)) {
    double x = text_operand ? static_cast<double>(integer(left)) : as_double(a);
    double y = text_operand ? static_cast<double>(integer(right)) : as_double(b);
    if (operation == "+") return x + y;
    if (operation == "-") return x - y;
    if (operation == "*") return x * y;
  }
  std::int64_t x = integer(left);
  std::int64_t y = integer(right);
  if (operation == "%") return modulo(x, y);
  return operation == "^" ? power(x, y) : checked(operation, x, y);
}

bool template_truth(const TemplateValue& value) {
  const Value& v = scalar(value);
  if (std::holds_alternative<std::string>(v))
    throw TemplateFault("a condition is no text (write x == \"" + to_text(v) + "\")");
  return as_double(v) != 0;
}

std::string template_text(const TemplateValue& value) {
  const Value& v = scalar(value);
  if (const auto* boolean = std::get_if<bool>(&v)) return *boolean ? "1" : "0";
  return to_text(v);
}

}  // namespace kiln
