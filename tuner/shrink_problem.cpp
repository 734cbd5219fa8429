// Shrinking, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/shrink_problem.hpp"

#include <algorithm>
#include <optional>

#include "core/config.hpp"

namespace kiln {
namespace {

using Fields = std::vector<std::pair<std::string, Value>>;

std::optional<Problem> try_make(const KernelSpec& spec, const Fields& fields) {
  try {
    return Problem::make(spec, fields);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_size(const ProblemField& field) {
  return field.type == FieldType::integer && field.values.empty() && !field.specialize &&
         field.weight > 0;
}

/// The fields without those that hold their default anyway.
Fields without_defaults(const KernelSpec& spec, const Problem& problem) {
  Fields fields = problem.fields();
  for (const ProblemField& field : spec.problem) {
    if (!field.fallback) continue;
    Fields fewer = fields;
    std::erase_if(fewer, [&](const auto& entry) { return entry.first == field.name; });
    const auto made = try_make(spec, fewer);
    if (made && *made == problem) fields = std::move(fewer);
  }
  return fields;
}

/// Halves one field; nullopt when that breaks a rule.
std::optional<Problem> halve(const KernelSpec& spec, Fields& fields, std::size_t index) {
  Fields smaller = fields;
  auto& value = std::get<std::int64_t>(smaller[index].second);
  value = (value + 1) / 2;
  auto made = try_make(spec, smaller);
  if (made) fields = std::move(smaller);
  return made;
}

/// Positions of the fields that are sizes above 1, the largest first.
std::vector<std::size_t> halvable(const KernelSpec& spec, const Fields& fields) {
  std::vector<std::size_t> positions;
  const auto size_at = [&](std::size_t i) { return std::get<std::int64_t>(fields[i].second); };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const ProblemField* field = spec.find_field(fields[i].first);
    if (field != nullptr && is_size(*field) && size_at(i) > 1) positions.push_back(i);
  }
  std::stable_sort(positions.begin(), positions.end(),
                   [&](auto a, auto b) { return size_at(a) > size_at(b); });
  return positions;
}

enum class Sizes {
  ragged,   ///< odd, so that tiles and vectors have tails
  aligned,  ///< odd multiples of 16: what needs whole vectors runs, and few tiles are full
  tiny,     ///< 1, 2, 3: less than any tile
};

std::int64_t size_for(Sizes sizes, std::int64_t size, std::int64_t position) {
  constexpr std::int64_t kAlignment = 16;
  switch (sizes) {
    case Sizes::ragged:
      return size < 16 ? std::max<std::int64_t>(size - 1, 1) : (size - 4 - 2 * position) | 1;
    case Sizes::aligned:
      return size < 2 * kAlignment ? size : kAlignment * ((size / kAlignment - 1) | 1);
    case Sizes::tiny:
      break;
  }
  return std::min(size, 1 + position % 3);
}

/// Every size that may be changed without breaking a rule of the spec, changed.
Problem resized(const KernelSpec& spec, const Problem& problem, Sizes sizes) {
  Problem result = problem;
  Fields fields = without_defaults(spec, problem);
  std::int64_t position = 0;
  for (const std::size_t index : halvable(spec, fields)) {
    Fields changed = fields;
    auto& size = std::get<std::int64_t>(changed[index].second);
    size = size_for(sizes, size, position++);
    auto made = try_make(spec, changed);
    if (!made) continue;
    result = std::move(*made);
    fields = std::move(changed);
  }
  return result;
}

/// Doubles sizes, one after the other, as long as the CPU loop keeps to `max_operations`: a kernel
/// that is tuned for little still has to be right with many blocks.
Problem grown(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
              double max_operations) {
  Problem large = problem;
  Fields fields = without_defaults(spec, problem);
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::size_t index : halvable(spec, fields)) {
      Fields changed = fields;
      std::get<std::int64_t>(changed[index].second) *= 2;
      auto made = try_make(spec, changed);
      // A loop whose cost does not grow with the size would be doubled for ever.
      if (!made || cpu_operations(spec, *made, device) > max_operations ||
          cpu_operations(spec, *made, device) <= cpu_operations(spec, large, device))
        continue;
      large = std::move(*made);
      fields = std::move(changed);
      grew = true;
    }
  }
  return large;
}

}  // namespace

double cpu_operations(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device) {
  const Scope scope = make_scope(spec, problem, device);
  if (spec.verify.cpu_operations) return spec.verify.cpu_operations->evaluate_number(scope);
  double elements = 0;
  for (const Argument& argument : spec.arguments) {
    if (argument.access == Access::scalar ||
        (argument.when && !argument.when->evaluate_bool(scope)))
      continue;
    double count = 1;
    for (const Expression& extent : argument.shape) count *= extent.evaluate_number(scope);
    elements += count;
  }
  return elements;
}

Problem shrink_problem(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                       double max_operations) {
  Problem small = problem;
  Fields fields = without_defaults(spec, problem);
  while (cpu_operations(spec, small, device) > max_operations) {
    std::optional<Problem> halved;
    for (const std::size_t position : halvable(spec, fields)) {
      halved = halve(spec, fields, position);
      if (halved) break;
    }
    if (!halved) break;
    small = std::move(*halved);
  }
  return small;
}

std::vector<Problem> extra_problems(const KernelSpec& spec, const Problem& problem,
                                    const DeviceInfo& device, double max_operations) {
  const Problem small = shrink_problem(spec, problem, device, max_operations);
  std::vector<Problem> extras;
  if (cpu_operations(spec, small, device) > max_operations) return extras;
  const Problem base = grown(spec, small, device, max_operations);
  for (const Sizes sizes : {Sizes::ragged, Sizes::aligned, Sizes::tiny}) {
    Problem extra = resized(spec, base, sizes);
    const bool is_new =
        extra != problem && std::find(extras.begin(), extras.end(), extra) == extras.end();
    if (is_new) extras.push_back(std::move(extra));
  }
  return extras;
}

}  // namespace kiln
