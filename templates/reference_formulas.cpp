// evaluate_formulas: references of elementwise kernels, from [verify.formulas] of the spec.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "core/errors.hpp"
#include "templates/reference.hpp"

namespace kiln {
namespace {

/// One free name of a formula: an array read at the element's index, or a value that stays the
/// same.
struct Operand {
  const HostArray* array = nullptr;
  Value value;
};

Value element(const HostArray& array, std::size_t index) {
  std::size_t at = array.count() == 1 ? 0 : index;
  if (is_floating(array.dtype)) return array.get(at);
  if (array.dtype == DType::i64 || array.dtype == DType::u64)
    return array.elements<std::int64_t>()[at];
  return static_cast<std::int64_t>(array.get(at));
}

std::vector<Operand> operands_of(const Expression& formula, const KernelSpec& spec,
                                 const ReferenceCall& call,
                                 const std::map<std::string, HostArray>& before) {
  Scope scope;
  call.problem.add_to_scope(spec, scope);
  std::vector<Operand> operands;
  for (const std::string& name : formula.names()) {
    Operand operand;
    auto array = before.find(name);
    auto scalar = call.scalars.find(name);
    if (array != before.end()) {
      operand.array = &array->second;
    } else if (scalar != call.scalars.end()) {
      operand.value = scalar->second;
    } else if (const Value* value = scope.find(name)) {
      operand.value = *value;
    } else {
      throw InputError(formula.where(),
                       "'" + name + "' is no argument and no field of this problem");
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

std::string fault_of_length(const std::string& operand, const std::string& output) {
  return "'" + operand + "' has another number of elements than '" + output + "'";
}

void fill_output(const Expression& formula, std::vector<Operand> operands, HostArray& output) {
  std::vector<const Value*> slots(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) slots[k] = &operands[k].value;
  for (std::size_t i = 0; i < output.count(); ++i) {
    for (Operand& operand : operands) {
      if (operand.array != nullptr) operand.value = element(*operand.array, i);
    }
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
    for (const auto& [operand_name, array] : before) {
      const auto& names = formula.names();
      bool used = std::find(names.begin(), names.end(), operand_name) != names.end();
      if (used && array.count() != 1 && array.count() != output->second.count()) {
        throw InputError(formula.where(), fault_of_length(operand_name, name));
      }
    }
    fill_output(formula, operands_of(formula, spec, call, before), output->second);
  }
}

}  // namespace kiln
