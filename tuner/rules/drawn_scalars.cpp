// Draws values within the range of each scalar.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/drawn_scalars.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/hash.hpp"
#include "core/outside_reference.hpp"

namespace kiln {
namespace {

/// A number of [0, 1).
double fraction_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

template <typename Number>
std::vector<Value> within(const std::vector<Number>& numbers, Number low, Number high) {
  std::vector<Value> values;
  for (const Number number : numbers) {
    if (number >= low && number <= high) values.emplace_back(number);
  }
  return values;
}

std::vector<Value> real_values(const Argument& argument, const Scope& scope, std::uint64_t bits) {
  const double part = fraction_of(bits);
  std::vector<double> numbers = {0, 1, -1, 0.25 + part / 2, -3 * (0.25 + part / 2)};
  const double most = 500 + 1000 * part;
  if (!argument.low && !argument.high) {
    numbers.insert(numbers.end(), {most, -most});
    return within<double>(numbers, -most, most);
  }
  const double low = argument.low ? argument.low->evaluate_number(scope) : -most;
  const double high = argument.high ? argument.high->evaluate_number(scope) : most;
  numbers.insert(numbers.end(), {low, high, low + (high - low) * part});
  return within<double>(numbers, low, high);
}

std::vector<Value> whole_values(const Argument& argument, const Scope& scope, std::uint64_t bits,
                                std::int64_t example) {
  if (!argument.low && !argument.high) {
    const std::int64_t one = example < 0 ? -1 : 1;
    if (std::abs(example) <= 1) return {example == 0 ? one : 2 * example};
    return {Value(one), Value(example - one), Value(example - example / 2)};
  }
  const std::int64_t low =
      argument.low ? argument.low->evaluate_int(scope) : std::min<std::int64_t>(example, 0);
  const std::int64_t high =
      argument.high ? argument.high->evaluate_int(scope) : std::max<std::int64_t>(example, 1);
  const auto drawn =
      low + static_cast<std::int64_t>(fraction_of(bits) * static_cast<double>(high - low));
  return within<std::int64_t>({low, high, 0, 1, -1, drawn}, low, high);
}

std::string range_words(const Argument& argument) {
  if (argument.special) return "special = false";
  return argument.low && argument.high ? "low and high are stated"
         : argument.low                ? "low is stated"
                                       : "high is stated";
}

}  // namespace

ScalarValues draw_scalars(const Setting& setting, std::uint64_t seed, std::size_t turn) {
  const KernelSpec& spec = setting.spec();
  ScalarValues drawn;
  const Result<LaunchPlan> plan = setting.arguments();
  if (!plan) return drawn;
  for (const ScalarPlan& scalar : plan->scalars) {
    const Argument& argument = *spec.find_argument(scalar.name);
    if (!scalar.from_caller || follows_scalars(spec, argument)) continue;
    const std::uint64_t bits = hash64(fmt::format("{} {} {}", seed, turn, scalar.name));
    const std::vector<Value> values =
        is_floating(scalar.dtype)
            ? real_values(argument, setting.scope(), bits)
            : whole_values(argument, setting.scope(), bits, std::get<std::int64_t>(scalar.value));
    // Each scalar begins at another place of its list: two are not 0 at the same time for ever.
    const std::size_t place = turn + drawn.size() + turn / kScalarDraws * drawn.size();
    if (!values.empty()) drawn[scalar.name] = values[place % values.size()];
  }
  return drawn;
}

std::string scalars_text(const ScalarValues& scalars) {
  std::string text;
  for (const auto& [name, value] : scalars)
    text += (text.empty() ? "" : ", ") + name + "=" + to_text(value);
  return text;
}

bool takes_special_values(const Argument& argument, const Scope& scope) {
  if (!argument.elements.empty()) return false;
  if (argument.special) return argument.special->evaluate_bool(scope);
  return !argument.low && !argument.high;
}

std::vector<std::string> tried(const Setting& setting) {
  const KernelSpec& spec = setting.spec();
  std::vector<std::string> checks = {fmt::format(
      "{}: over poison, again with other inputs over what the call before has left, and "
      "after the timed runs",
      setting.problem().text())};
  if (find_recorded(spec, setting.problem()) != nullptr) return checks;
  const ScalarValues scalars = draw_scalars(setting, 1, 0);
  std::string names;
  for (const auto& [name, value] : scalars) names += (names.empty() ? "" : ", ") + name;
  checks.push_back("repeated calls with inputs that differ in a few elements" +
                   (names.empty() ? "" : ", and with other values of " + names));
  if (spec.verify.by_itself()) return checks;
  checks.emplace_back("other sizes: planned and drawn ones, and those at which blocks are added");
  std::string inputs;
  for (const Argument& argument : spec.arguments) {
    const bool is_input = argument.access == Access::read || argument.access == Access::read_write;
    if (is_input && takes_special_values(argument, setting.scope()))
      inputs += (inputs.empty() ? "" : ", ") + argument.name;
  }
  if (!inputs.empty())
    checks.push_back("NaN, infinities, -0, subnormals and the limits of the type in " + inputs);
  return checks;
}

std::vector<std::string> not_tried(const Setting& setting) {
  const KernelSpec& spec = setting.spec();
  std::vector<std::string> left_out;
  const Result<LaunchPlan> plan = setting.arguments();
  if (!plan || spec.command) return left_out;
  std::string inputs;
  for (const BufferPlan& buffer : plan->buffers) {
    const Argument& argument = *spec.find_argument(buffer.name);
    if (buffer.access == Access::write || takes_special_values(argument, setting.scope())) continue;
    if (argument.elements.empty())
      inputs += fmt::format("{}'{}' ({})", inputs.empty() ? "" : ", ", buffer.name,
                            range_words(argument));
  }
  if (!inputs.empty()) left_out.push_back("special values in " + inputs);
  if (find_recorded(spec, setting.problem()) != nullptr) {
    left_out.emplace_back("other inputs than the recorded ones");
  } else if (spec.verify.by_itself()) {
    left_out.emplace_back("other sizes and special values: there is no reference on the CPU");
  }
  return left_out;
}

}  // namespace kiln
