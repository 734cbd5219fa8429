// SPDX-License-Identifier: Apache-2.0
#include "core/expression/functions.hpp"

#include <algorithm>
#include <array>

namespace kiln::expression {
namespace {

constexpr std::array<Function, 22> kFunctions = {{
    {"min", Operation::minimum, kAtLeastTwo, Availability::everywhere},
    {"max", Operation::maximum, kAtLeastTwo, Availability::everywhere},
    {"abs", Operation::absolute, 1, Availability::everywhere},
    {"ceil_div", Operation::ceil_divide, 2, Availability::everywhere},
    {"round_up", Operation::round_up, 2, Availability::everywhere},
    // Over whole numbers and element types, which kernel code in reals has not.
    {"pow2", Operation::is_power_of_two, 1, Availability::expressions_only},
    {"log2", Operation::floor_log2, 1, Availability::expressions_only},
    {"sizeof", Operation::size_of, 1, Availability::expressions_only},
    {"int", Operation::to_integer, 1, Availability::expressions_only},
    {"float", Operation::to_real, 1, Availability::expressions_only},
    {"bool", Operation::to_boolean, 1, Availability::expressions_only},
    {"uses", Operation::uses, 2, Availability::expressions_only},
    {"sin", Operation::sine, 1, Availability::formulas_only},
    {"cos", Operation::cosine, 1, Availability::formulas_only},
    {"tan", Operation::tangent, 1, Availability::formulas_only},
    {"exp", Operation::exponential, 1, Availability::formulas_only},
    {"log", Operation::logarithm, 1, Availability::formulas_only},
    {"sqrt", Operation::square_root, 1, Availability::formulas_only},
    {"tanh", Operation::hyperbolic_tangent, 1, Availability::formulas_only},
    {"erf", Operation::error_function, 1, Availability::formulas_only},
    {"floor", Operation::round_down, 1, Availability::formulas_only},
    {"pow", Operation::real_power, 2, Availability::formulas_only},
}};

}  // namespace

const Function* find_function(std::string_view name) {
  const auto* const found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                         [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

bool is_available(const Function& function, bool formula) {
  const Availability refused =
      formula ? Availability::expressions_only : Availability::formulas_only;
  return function.availability != refused;
}

std::vector<std::string> function_names(bool formula) {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) {
    if (is_available(function, formula)) names.emplace_back(function.name);
  }
  return names;
}

std::string_view spelling(Operation operation) {
  switch (operation) {
    case Operation::negate:
    case Operation::subtract:
      return "-";
    case Operation::logical_not:
      return "not";
    case Operation::add:
      return "+";
    case Operation::multiply:
      return "*";
    case Operation::divide:
      return "/";
    case Operation::floor_divide:
      return "//";
    case Operation::modulo:
      return "%";
    case Operation::power:
      return "**";
    case Operation::bit_not:
      return "~";
    case Operation::bit_and:
      return "&";
    case Operation::bit_or:
      return "|";
    case Operation::bit_xor:
      return "^";
    case Operation::shift_left:
      return "<<";
    case Operation::shift_right:
      return ">>";
    case Operation::less:
      return "<";
    case Operation::less_equal:
      return "<=";
    case Operation::greater:
      return ">";
    case Operation::greater_equal:
      return ">=";
    case Operation::equal:
      return "==";
    case Operation::not_equal:
      return "!=";
    case Operation::all_of:
      return "and";
    case Operation::any_of:
      return "or";
    case Operation::member:
      return "in";
    case Operation::choose:
      return "if";
    default:
      break;
  }
  const auto* const found =
      std::find_if(kFunctions.begin(), kFunctions.end(),
                   [&](const Function& f) { return f.operation == operation; });
  return found == kFunctions.end() ? std::string_view() : found->name;
}

}  // namespace kiln::expression
