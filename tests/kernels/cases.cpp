// Pairs problems with default configs, and with configs that are drawn at random.
// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/constraint_text.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/value.hpp"
#include "search/random.hpp"
#include "search/space.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::test {
namespace {

/// A config drawn uniformly from the legal ones; nullopt when the problem has none of this variant.
std::optional<Config> draw(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                           const DeviceInfo& device, Random& random) {
  if (!is_possible(spec, variant, problem, device)) return std::nullopt;
  SpaceOptions options;
  options.variants = {variant.name};
  try {
    const Space space = Space::build({spec, problem, device}, options);
    return space.at(*space.sample(random));
  } catch (const InputError&) {
    return std::nullopt;  // an empty space
  }
}

}  // namespace

std::string Case::text(const KernelSpec& spec) const {
  return spec.name + " " + problem.short_text(spec) + ", " + config.text();
}

bool is_possible(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                 const DeviceInfo& device) {
  return !variant.requires_ || holds(*variant.requires_, Setting(spec, problem, device).scope());
}

std::vector<Case> default_cases(const KernelSpec& spec, const std::vector<Problem>& problems,
                                const DeviceInfo& device) {
  std::vector<Case> cases;
  for (const Problem& problem : problems) {
    for (const Variant& variant : spec.variants) {
      if (!is_possible(spec, variant, problem, device)) continue;
      cases.push_back({problem, Setting(spec, problem, device).default_config(variant)});
    }
  }
  return cases;
}

std::vector<Case> drawn_cases(const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const Case*>> by_variant;
  for (const Case& each : cases) by_variant[each.config.variant].push_back(&each);
  std::set<const Case*> drawn;
  for (const auto& [variant, all] : by_variant) {
    const std::size_t before = drawn.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_drawn(i)) drawn.insert(all[i]);
    }
    if (drawn.size() == before) drawn.insert(all.front());
  }
  std::vector<Case> taken;
  for (const Case& each : cases) {
    if (drawn.count(&each) > 0) taken.push_back(each);
  }
  return taken;
}

std::string kind_of(const KernelSpec& spec, const Case& c) {
  std::string kind = c.config.variant;
  for (const ProblemField& field : spec.problem) {
    if (field.type == FieldType::dtype) kind += " " + to_text(c.problem.at(field.name));
  }
  return kind;
}

std::vector<Case> one_of_each_type(const KernelSpec& spec, std::vector<Case> cases,
                                   std::uint64_t seed) {
  Random random(seed);
  random.shuffle(cases);
  std::set<std::string> seen;
  std::erase_if(cases, [&](const Case& c) { return !seen.insert(kind_of(spec, c)).second; });
  return cases;
}

std::vector<Case> random_cases(const KernelSpec& spec, const std::vector<Problem>& problems,
                               const DeviceInfo& device, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Case> cases;
  for (const Variant& variant : spec.variants) {
    std::vector<Problem> shuffled = problems;
    random.shuffle(shuffled);
    std::size_t found = 0;
    for (std::size_t i = 0; i < shuffled.size() && found < count; ++i) {
      std::optional<Config> config = draw(spec, variant, shuffled[i], device, random);
      if (!config) continue;
      cases.push_back({shuffled[i], std::move(*config)});
      ++found;
    }
  }
  return cases;
}

}  // namespace kiln::test
