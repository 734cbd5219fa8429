// computed_elements: inputs whose elements are expressions of the spec (`elements`).
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "templates/reference.hpp"

namespace kiln {
namespace {

// Expressions are evaluated one by one on the host: lists and tables, not data.
constexpr std::size_t kMostElements = std::size_t{1} << 22;

/// One expression with the values of its names: what the problem says, and the element's place.
class ElementExpression {
 public:
  ElementExpression(const Expression& expression, const Scope& scope,
                    const std::vector<std::int64_t>& shape)
      : expression_(expression) {
    for (const std::string& name : expression.names()) {
      const Value* value = scope.find(name);
      values_.push_back(value != nullptr ? *value : Value());
      if (value == nullptr) add_place(name, shape);
    }
    for (const Value& value : values_) slots_.push_back(&value);
  }
  // slots_ point into values_.
  ElementExpression(const ElementExpression&) = delete;
  ElementExpression(ElementExpression&&) = default;
  ElementExpression& operator=(const ElementExpression&) = delete;
  ElementExpression& operator=(ElementExpression&&) = delete;
  ~ElementExpression() = default;

  [[nodiscard]] Value at(std::size_t index) {
    for (const Place& place : places_)
      values_[place.name] = static_cast<std::int64_t>(index / place.step % place.extent);
    const std::optional<Value> value = expression_.evaluate(slots_);
    if (value && !std::holds_alternative<std::string>(*value)) return *value;
    throw InputError(
        expression_.where(),
        "'" + expression_.text() + "' gives no number at element " + std::to_string(index));
  }

 private:
  struct Place {
    std::size_t name;  ///< index in values_
    std::size_t step;
    std::size_t extent;
  };

  void add_place(const std::string& name, const std::vector<std::int64_t>& shape) {
    Place place = {values_.size() - 1, 1, ~std::size_t{0}};
    for (std::size_t i = shape.size(); name != kFlatIndexName && i-- > 0;) {
      place.extent = static_cast<std::size_t>(shape[i]);
      if (name == "i" + std::to_string(i)) break;
      place.step *= place.extent;
    }
    places_.push_back(place);
  }

  const Expression& expression_;
  std::vector<Value> values_;
  std::vector<const Value*> slots_;
  std::vector<Place> places_;
};

void set_element(HostArray& array, std::size_t index, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole != nullptr && size_of(array.dtype) == sizeof *whole && !is_floating(array.dtype))
    array.elements<std::int64_t>()[index] = *whole;
  else
    array.set(index, as_double(value));
}

}  // namespace

HostArray computed_elements(const std::vector<Expression>& elements, DType dtype,
                            const std::vector<std::int64_t>& shape, const Scope& scope) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const std::size_t lists = elements.size();
  if (lists != 1 && lists != static_cast<std::size_t>(shape.back()))
    throw InputError(elements.front().where(),
                     "'elements' has " + std::to_string(lists) +
                         " expressions: it needs one, or one for each of the " +
                         std::to_string(shape.back()) + " indices of the innermost dimension");
  if (count > kMostElements)
    throw InputError(elements.front().where(), "'elements' computes at most " +
                                                   std::to_string(kMostElements) +
                                                   " elements, not " + std::to_string(count));
  HostArray array(dtype, shape);
  std::vector<ElementExpression> expressions;
  expressions.reserve(lists);
  for (const Expression& element : elements) expressions.emplace_back(element, scope, shape);
  for (std::size_t i = 0; i < count; ++i) set_element(array, i, expressions[i % lists].at(i));
  return array;
}

}  // namespace kiln
