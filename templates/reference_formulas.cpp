// evaluate_formulas: references of elementwise kernels, from [verify.formulas] of the spec.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/errors.hpp"
#include "core/in_parallel.hpp"
#include "templates/reference.hpp"

namespace kiln {
namespace {

/// One free name of a formula: an array read at the element's index, the place of the element, or
/// a value that stays the same.
struct FormulaOperand {
  const HostArray* array = nullptr;
  Value value;
  // The place: `index / step % extent`.
  std::size_t step = 0;  ///< 0: no place
  std::size_t extent = 1;
};

Value element(const HostArray& array, std::size_t index) {
  std::size_t at = array.count() == 1 ? 0 : index;
  if (is_floating(array.dtype)) return array.get(at);
  if (array.dtype == DType::i64 || array.dtype == DType::u64)
    return array.elements<std::int64_t>()[at];
  return static_cast<std::int64_t>(array.get(at));
}

/// The operand that a name of a place stands for in an output of this shape.
std::optional<FormulaOperand> place_operand(const std::string& name,
                                            const std::vector<std::int64_t>& shape) {
  FormulaOperand operand;
  operand.step = 1;
  operand.extent = std::numeric_limits<std::size_t>::max();
  if (name == kFlatIndexName) return operand;
  for (std::size_t i = shape.size(); i-- > 0;) {
    operand.extent = std::max<std::size_t>(static_cast<std::size_t>(shape[i]), 1);
    if (name == "i" + std::to_string(i)) return operand;
    operand.step *= operand.extent;
  }
  return std::nullopt;
}

std::vector<FormulaOperand> operands_of(const Expression& formula, const KernelSpec& spec,
                                        const ReferenceCall& call,
                                        const std::map<std::string, HostArray>& before,
                                        const std::vector<std::int64_t>* places = nullptr) {
  Scope scope;
  call.problem.add_to_scope(spec, scope);
  std::vector<FormulaOperand> operands;
  for (const std::string& name : formula.names()) {
    FormulaOperand operand;
    auto array = before.find(name);
    auto scalar = call.scalars.find(name);
    if (array != before.end()) {
      operand.array = &array->second;
    } else if (scalar != call.scalars.end()) {
      operand.value = scalar->second;
    } else if (const Value* value = scope.find(name)) {
      operand.value = *value;
    } else if (const auto place = places == nullptr ? std::nullopt : place_operand(name, *places)) {
      operand = *place;
    } else {
      throw InputError(formula.where(),
                       "'" + name + "' is no argument and no field of this problem");
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

void move_to(std::size_t index, std::vector<FormulaOperand>& operands) {
  for (FormulaOperand& operand : operands) {
    if (operand.array != nullptr) operand.value = element(*operand.array, index);
    if (operand.step > 0)
      operand.value = static_cast<std::int64_t>(index / operand.step % operand.extent);
  }
}

std::string fault_of_length(const std::string& operand, const std::string& output) {
  return "'" + operand + "' has another number of elements than '" + output + "'";
}

void check_lengths(const Expression& formula, const std::map<std::string, HostArray>& arrays,
                   const std::string& output, std::size_t count) {
  const auto& names = formula.names();
  for (const auto& [operand, array] : arrays) {
    const bool used = std::find(names.begin(), names.end(), operand) != names.end();
    if (used && array.count() != 1 && array.count() != count)
      throw InputError(formula.where(), fault_of_length(operand, output));
  }
}

/// Fills the elements [first, last).
void fill_part(const Expression& formula, std::vector<FormulaOperand> operands, HostArray& output,
               std::size_t first, std::size_t last) {
  std::vector<const Value*> slots(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) slots[k] = &operands[k].value;
  for (std::size_t i = first; i < last; ++i) {
    move_to(i, operands);
    std::optional<Value> result = formula.evaluate(slots);
    if (!result)
      throw InputError(formula.where(), "the formula has no value at element " + std::to_string(i));
    const auto* whole = std::get_if<std::int64_t>(&*result);
    if (whole != nullptr && output.dtype == DType::i64) {
      output.elements<std::int64_t>()[i] = *whole;
    } else {
      output.set(i, as_double(*result));
    }
  }
}

}  // namespace

void evaluate_formulas(const KernelSpec& spec, ReferenceCall& call) {
  // Inputs as they were before the call: a read_write argument is both operand and output.
  const std::map<std::string, HostArray> before = call.arrays;
  for (const auto& [name, formula] : spec.verify.formulas) {
    auto output = call.arrays.find(name);
    if (output == call.arrays.end()) continue;  // does not exist for this problem
    check_lengths(formula, before, name, output->second.count());
    const std::vector<FormulaOperand> operands = operands_of(formula, spec, call, before);
    in_parallel(output->second.count(), [&](std::size_t first, std::size_t last) {
      fill_part(formula, operands, output->second, first, last);
    });
  }
}

std::vector<bool> written_elements(const KernelSpec& spec, const ReferenceCall& call,
                                   const std::string& name,
                                   const std::vector<std::int64_t>& shape) {
  const auto declared = spec.verify.written.find(name);
  if (declared == spec.verify.written.end()) return {};
  const Expression& expression = declared->second;
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  check_lengths(expression, call.arrays, name, count);
  std::vector<FormulaOperand> operands = operands_of(expression, spec, call, call.arrays, &shape);
  std::vector<const Value*> slots(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) slots[k] = &operands[k].value;
  std::vector<bool> written(count);
  for (std::size_t i = 0; i < count; ++i) {
    move_to(i, operands);
    const std::optional<Value> result = expression.evaluate(slots);
    if (!result || std::holds_alternative<std::string>(*result)) {
      throw InputError(
          expression.where(),
          "'written' of '" + name + "' is neither true nor false at element " + std::to_string(i));
    }
    written[i] = as_double(*result) != 0;
  }
  return written;
}

}  // namespace kiln
