// Halves, grows, stretches and skews the sizes of a problem within its rules.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/shrink_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"

namespace kiln {
namespace {

// Sizes of which there is a problem where it alone is large, and one where it alone is small.
constexpr std::size_t kStretchedSizes = 3;
bool is_size(const ProblemField& field) {
  return field.type == FieldType::integer && field.values.empty() && !field.specialize &&
         field.weight > 0;
}

/// The fields without those that follow from others by their default. A size whose default is a
/// number is a size like others, but for 1: one of something.
Fields without_defaults(const KernelSpec& spec, const Problem& problem) {
  Fields fields = problem.fields();
  for (const ProblemField& field : spec.problem) {
    if (!field.fallback) continue;
    if (is_size(field) && field.fallback->names().empty() && problem.integer(field.name) > 1)
      continue;
    Fields fewer = fields;
    std::erase_if(fewer, [&](const auto& entry) { return entry.first == field.name; });
    const auto made = try_problem(spec, fewer);
    if (made && *made == problem) fields = std::move(fewer);
  }
  return fields;
}

/// Halves one field; nullopt when that breaks a rule.
std::optional<Problem> halve(const KernelSpec& spec, Fields& fields, std::size_t index) {
  Fields smaller = fields;
  auto& value = std::get<std::int64_t>(smaller[index].second);
  value = (value + 1) / 2;
  auto made = try_problem(spec, smaller);
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

// So many results of one kind show a mistake that an eighth of them is subject to.
constexpr std::int64_t kSeveral = 17;

enum class Sizes {
  ragged,    ///< odd, so that tiles and vectors have tails
  aligned,   ///< odd multiples of 16: what needs whole vectors runs, and few tiles are full
  tiny,      ///< 1, 2, 3: less than any tile
  whole,     ///< powers of two: every tile is full in all directions
  one_past,  ///< one more than a power of two: the last tile holds a single element
};

/// The largest that is less; of a size above 1.
std::int64_t power_of_two_below(std::int64_t size) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size - 1)));
}

std::int64_t size_for(Sizes sizes, std::int64_t size, std::int64_t position) {
  constexpr std::int64_t kAlignment = 16;
  switch (sizes) {
    case Sizes::ragged:
      return size < 16 ? std::max<std::int64_t>(size - 1, 1) : (size - 4 - 2 * position) | 1;
    case Sizes::aligned:
      return size < 2 * kAlignment ? size : kAlignment * ((size / kAlignment - 1) | 1);
    case Sizes::one_past:
      return size < 3 ? size : power_of_two_below(size) + 1;
    case Sizes::whole:
      return power_of_two_below(size + 1);
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
    auto made = try_problem(spec, changed);
    if (!made) continue;
    result = std::move(*made);
    fields = std::move(changed);
  }
  return result;
}

/// Doubles sizes, one after the other, as long as the CPU loop keeps to `max_operations`: a kernel
/// that is tuned for little still has to be right with many blocks.
Problem grown(const Setting& setting, double max_operations) {
  const KernelSpec& spec = setting.spec();
  const DeviceInfo& device = setting.device();
  Problem large = setting.problem();
  Fields fields = without_defaults(spec, large);
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::size_t index : halvable(spec, fields)) {
      Fields changed = fields;
      std::get<std::int64_t>(changed[index].second) *= 2;
      auto made = try_problem(spec, changed);
      // A loop whose cost does not grow with the size would be doubled for ever.
      if (!made || cpu_operations({spec, *made, device}) > max_operations ||
          cpu_operations({spec, *made, device}) <= cpu_operations({spec, large, device}))
        continue;
      large = std::move(*made);
      fields = std::move(changed);
      grew = true;
    }
  }
  return large;
}

/// A problem whose sizes are chosen one by one.
class Shape {
 public:
  Shape(const KernelSpec& spec, const DeviceInfo& device, const Problem& problem,
        double max_operations)
      : spec_(spec),
        device_(device),
        max_operations_(max_operations),
        fields_(without_defaults(spec, problem)),
        problem_(problem) {}

  /// False when a rule of the spec is against it; nothing changes then.
  bool set(const std::string& name, std::int64_t size) {
    return change(name, size, [](const Problem&) { return true; });
  }

  /// Doubles these sizes in turn as far as the limit allows, and adds `offset` to each.
  void grow(const std::vector<std::string>& names, std::int64_t offset) {
    const auto fits = [this](const Problem& larger) { return cost(larger) <= max_operations_; };
    // A loop whose cost does not grow with the size would be doubled for ever.
    const auto fits_and_grew = [&](const Problem& larger) {
      return fits(larger) && cost(larger) > cost(problem_);
    };
    std::vector<std::string> growing = names;
    while (!growing.empty()) {
      std::erase_if(growing, [&](const std::string& name) {
        const std::int64_t size = 2 * problem_.integer(name);
        return size > kLongestOfSeveral || !change(name, size, fits_and_grew);
      });
    }
    for (const std::string& name : names) change(name, problem_.integer(name) + offset, fits);
  }

  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  template <typename Accept>
  bool change(const std::string& name, std::int64_t size, const Accept& accept) {
    Fields changed = fields_;
    const auto found = std::find_if(changed.begin(), changed.end(),
                                    [&](const auto& field) { return field.first == name; });
    if (found == changed.end()) {
      changed.emplace_back(name, size);
    } else {
      found->second = size;
    }
    auto made = try_problem(spec_, changed);
    if (!made || !accept(*made)) return false;
    fields_ = std::move(changed);
    problem_ = std::move(*made);
    return true;
  }
  [[nodiscard]] double cost(const Problem& problem) const {
    return cpu_operations({spec_, problem, device_});
  }

  const KernelSpec& spec_;
  const DeviceInfo& device_;
  double max_operations_;
  Fields fields_;
  Problem problem_;
};

/// Names of the sizes above 1, the largest first.
std::vector<std::string> names_of_sizes(const KernelSpec& spec, const Problem& problem) {
  const Fields fields = without_defaults(spec, problem);
  std::vector<std::string> names;
  for (const std::size_t index : halvable(spec, fields)) names.push_back(fields[index].first);
  return names;
}

/// Tiles in one direction only: `few` are 2 and 3 (1 is often another kernel); `many` are as large
/// as the limit allows.
Problem stretched(Shape shape, const std::vector<std::string>& few,
                  const std::vector<std::string>& many, std::int64_t offset) {
  for (const std::string& name : many) (void)shape.set(name, 2);
  std::int64_t size = 0;
  for (const std::string& name : few) (void)shape.set(name, 2 + size++ % 2);
  shape.grow(many, offset);
  return shape.problem();
}

/// All sizes but one are about half or less of what they were, that one is as large as the limit
/// then allows: few tiles in one direction, but more than one, and many in the other.
Problem skewed(Shape shape, const std::string& large, const std::vector<std::string>& others) {
  for (const std::string& name : others)
    (void)shape.set(name, power_of_two_below(shape.problem().integer(name)) / 2 + 1);
  shape.grow({large}, 1);
  return shape.problem();
}

/// Names of the sizes that are 1 unless a caller says otherwise, and are 1 here.
std::vector<std::string> names_of_ones(const KernelSpec& spec, const Problem& problem) {
  std::vector<std::string> ones;
  for (const ProblemField& field : spec.problem) {
    const bool is_one = is_size(field) && field.fallback && field.fallback->names().empty() &&
                        problem.integer(field.name) == 1;
    if (is_one) ones.push_back(field.name);
  }
  return ones;
}

/// The ones are `few` and one more (or `few`, where a rule of the spec is against more), and the
/// others as large as the limit then allows.
Problem widened(Shape shape, const std::vector<std::string>& ones,
                const std::vector<std::string>& others, std::int64_t few) {
  for (const std::string& name : others) (void)shape.set(name, 2);
  std::int64_t size = 0;
  for (const std::string& name : ones)
    if (!shape.set(name, few + size++ % 2)) (void)shape.set(name, few);
  shape.grow(others, 1);
  return shape.problem();
}

/// The others are 2 and 3, and the ones as large as the limit then allows.
Problem deepened(Shape shape, const std::vector<std::string>& ones,
                 const std::vector<std::string>& others) {
  std::int64_t size = 0;
  for (const std::string& name : others) (void)shape.set(name, 2 + size++ % 2);
  shape.grow(ones, 1);
  return shape.problem();
}

/// Of all launches; nullopt where the config is not legal.
std::optional<double> count_blocks(const Setting& setting, const Config& config) {
  const Result<LaunchPlan> plan = setting.plan(config);
  if (!plan) return std::nullopt;
  double blocks = 0;
  for (const StepPlan& step : plan->steps) {
    if (step.kind != StepKind::launch) continue;
    blocks += static_cast<double>(step.grid[0]) * step.grid[1] * step.grid[2];
  }
  return blocks;
}

/// The least size at which there are more blocks than at the least legal one.
std::optional<std::int64_t> border_of(
    const std::function<std::optional<double>(std::int64_t)>& blocks_at, std::int64_t longest) {
  std::optional<double> few;
  std::int64_t below = 0;
  std::int64_t size = 1;
  for (;; size *= 2) {
    if (size > longest) return std::nullopt;
    const std::optional<double> blocks = blocks_at(size);
    if (!blocks) continue;
    if (!few) few = blocks;
    if (*blocks > *few) break;
    below = size;
  }
  while (size - below > 1) {
    const std::int64_t middle = below + (size - below) / 2;
    const std::optional<double> blocks = blocks_at(middle);
    (blocks && *blocks > *few ? size : below) = middle;
  }
  return size;
}

}  // namespace

std::optional<Problem> try_problem(const KernelSpec& spec, const Fields& fields) {
  try {
    return Problem::make(spec, fields);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

double argument_elements(const Setting& setting) {
  const Scope& scope = setting.scope();
  double elements = 0;
  for (const Argument& argument : setting.spec().arguments) {
    if (argument.access == Access::scalar ||
        (argument.when && !argument.when->evaluate_bool(scope)))
      continue;
    double count = 1;
    for (const Expression& extent : argument.shape) count *= extent.evaluate_number(scope);
    elements += count;
  }
  return elements;
}

double cpu_operations(const Setting& setting) {
  const std::optional<Expression>& operations = setting.spec().verify.cpu_operations;
  return operations ? operations->evaluate_number(setting.scope()) : argument_elements(setting);
}

Problem shrink_problem(const Setting& setting, double max_operations) {
  const KernelSpec& spec = setting.spec();
  Problem small = setting.problem();
  Fields fields = without_defaults(spec, small);
  while (cpu_operations({spec, small, setting.device()}) > max_operations) {
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

std::vector<Problem> extra_problems(const Setting& setting, double max_operations) {
  const KernelSpec& spec = setting.spec();
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  const Setting small(spec, shrink_problem(setting, max_operations), device);
  std::vector<Problem> extras;
  if (cpu_operations(small) > max_operations) return extras;
  const auto add = [&](Problem extra) {
    const bool is_new =
        extra != problem && std::find(extras.begin(), extras.end(), extra) == extras.end();
    if (is_new && cpu_operations({spec, extra, device}) <= max_operations)
      extras.push_back(std::move(extra));
  };
  const Problem base = grown(small, max_operations);
  for (const Sizes sizes : {Sizes::ragged, Sizes::aligned, Sizes::tiny, Sizes::one_past})
    add(resized(spec, base, sizes));

  const Shape shape(spec, device, base, max_operations);
  const std::vector<std::string> names = names_of_sizes(spec, base);
  // Of a single size there are full tiles in all of the above.
  if (names.size() > 1) add(resized(spec, base, Sizes::whole));
  if (const std::vector<std::string> ones = names_of_ones(spec, base); !ones.empty()) {
    add(widened(shape, ones, names, 2));
    add(widened(shape, ones, names, kSeveral));
    add(deepened(shape, ones, names));
  }
  for (std::size_t i = 0; names.size() > 1 && i < std::min(names.size(), kStretchedSizes); ++i) {
    std::vector<std::string> others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    add(stretched(shape, {names[i]}, others, 1));
    add(stretched(shape, others, {names[i]}, -1));
    add(skewed(shape, names[i], others));
  }
  return extras;
}

std::vector<Problem> border_problems(const Setting& setting, const Config& config,
                                     double max_operations) {
  const KernelSpec& spec = setting.spec();
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  std::vector<Problem> found;
  const std::vector<std::string> names = names_of_sizes(spec, problem);
  for (std::size_t i = 0; i < std::min(names.size(), kStretchedSizes); ++i) {
    Shape base(spec, device, problem, max_operations);
    std::int64_t size = 0;
    for (const std::string& other : names) {
      if (other != names[i]) (void)base.set(other, 2 + size++ % 2);
    }
    const auto at = [&](std::int64_t value) -> std::optional<Problem> {
      Shape shape = base;
      if (!shape.set(names[i], value)) return std::nullopt;
      if (cpu_operations({spec, shape.problem(), device}) > max_operations) return std::nullopt;
      return shape.problem();
    };
    const auto blocks_at = [&](std::int64_t value) {
      const std::optional<Problem> made = at(value);
      return made ? count_blocks({spec, *made, device}, config) : std::nullopt;
    };
    const std::optional<std::int64_t> border =
        border_of(blocks_at, static_cast<std::int64_t>(max_operations));
    if (!border) continue;
    // The second block's first element, its middle, and the first quarter of a third block.
    for (const std::int64_t value : {*border, *border + *border / 2, 2 * *border + *border / 4}) {
      std::optional<Problem> made = at(value);
      if (made && *made != problem) found.push_back(std::move(*made));
    }
  }
  return found;
}

}  // namespace kiln
