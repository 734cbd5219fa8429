// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/constraint_text.hpp"
#include "core/setting.hpp"
#include "core/suggest.hpp"
#include "search/legal_scan.hpp"
#include "search/saturating.hpp"

namespace kiln {
namespace {

// Indices are stored as signed 64-bit numbers.
constexpr std::size_t kMaxIndices = std::numeric_limits<std::int64_t>::max();

std::string why_impossible(const Variant& variant, const Scope& scope) {
  if (!variant.requires_) return "";
  try {
    if (holds(*variant.requires_, scope)) return "";
    return "not possible here: " + explain_false(*variant.requires_, scope);
  } catch (const EvaluationError& error) {
    return std::string("not possible here: ") + error.what();
  }
}

void check_variant_names(const KernelSpec& spec, const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const Variant& variant : spec.variants) names.push_back(variant.name);
  for (const std::string& name : wanted) {
    if (spec.find_variant(name)) continue;
    throw InputError(fmt::format("{} has no variant '{}'{} (it has: {})", spec.name, name,
                                 did_you_mean(name, names), comma_list(names)));
  }
}

bool is_wanted(const Variant& variant, const SpaceOptions& options) {
  const auto& wanted = options.variants;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), variant.name) != wanted.end();
}

// Where a space is not exact and nothing else says which of its indices are legal.
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kMaxDraws = 1'000'000;
constexpr std::size_t kMaxScanSteps = 4'000'000;  // a second

/// One variant on its way into a space.
struct BuiltVariant {
  std::optional<VariantSpace> configs;  // absent where the variant is not possible
  std::optional<std::size_t> legal;     // an index that names a legal config; absent: none is known
  VariantReport report;
};

// A space that is not exact: how many of its indices are legal, from draws with a fixed seed, and
// one of those that are.
void estimate_configs(BuiltVariant& built) {
  constexpr int kEnoughLegal = 1000;
  const VariantSpace& configs = *built.configs;
  if (configs.size() == 0) return;
  built.legal = configs.default_index();
  Random random(kSeed);
  int legal = 0;
  std::size_t draws = 0;
  while (draws < kMaxDraws && legal < kEnoughLegal) {
    ++draws;
    const std::size_t index = random.below(configs.size());
    if (!configs.is_legal(index)) continue;
    ++legal;
    if (!built.legal) built.legal = index;
  }
  if (!built.legal) {
    Effort effort(kMaxScanSteps);
    built.legal = scan_from_places(
        effort, [&] { return random.below(configs.size()); },
        [&](std::size_t place, Effort& part) {
          const auto index = configs.next_legal(place, configs.size(), part);
          return index || part.is_spent() ? index : configs.next_legal(0, place, part);
        });
  }
  const double share = static_cast<double>(legal) / static_cast<double>(draws);
  const auto estimate = static_cast<std::size_t>(share * static_cast<double>(configs.size()));
  built.report.configs = std::max<std::size_t>(estimate, built.legal ? 1 : 0);
}

BuiltVariant build_variant(const Variant& variant, Scope constants, const DeviceInfo* device,
                           std::size_t max_states) {
  RuleSet rules(variant, std::move(constants), device);
  BuiltDiagram built = build_diagram(rules, variant, max_states);
  VariantReport report;
  report.variant = variant.name;
  report.combinations = 1;
  for (const Tunable& tunable : variant.tunables) {
    report.combinations = saturating_multiply(report.combinations, tunable.values.size());
  }
  report.rules = std::move(built.cuts);
  for (std::size_t r = 0; r < built.late.size(); ++r) report.rules[r].late = built.late[r];
  for (const std::size_t v : built.order.variables) {
    report.order.push_back(variant.tunables[rules.variables()[v].tunable].name);
  }
  report.parts = built.order.parts;
  report.states = built.states;
  VariantSpace configs(variant, std::move(rules), std::move(built));
  report.exact = configs.is_exact();
  report.configs = configs.size();
  report.bytes = configs.bytes();
  BuiltVariant out{std::move(configs), std::nullopt, std::move(report)};
  if (out.report.exact) {
    if (out.report.configs > 0) out.legal = 0;
  } else {
    estimate_configs(out);
  }
  return out;
}

BuiltVariant build_variant(const Setting& setting, const Variant& variant, std::size_t max_states) {
  std::string impossible = why_impossible(variant, setting.scope());
  if (impossible.empty()) {
    return build_variant(variant, setting.scope(), &setting.device(), max_states);
  }
  BuiltVariant built;
  built.report.variant = variant.name;
  built.report.impossible = std::move(impossible);
  return built;
}

}  // namespace

Space Space::build(const Setting& setting, const SpaceOptions& options) {
  const KernelSpec& spec = setting.spec();
  check_variant_names(spec, options.variants);
  Space space;
  for (const Variant& variant : spec.variants) {
    if (!is_wanted(variant, options)) continue;
    BuiltVariant built = build_variant(setting, variant, options.max_states);
    space.report_.variants.push_back(std::move(built.report));
    if (built.legal) space.add(*std::move(built.configs), *built.legal);
  }
  if (space.size_ == 0) {
    throw InputError(fmt::format("no config of {} is legal for {} on {} ({}):{}", spec.name,
                                 setting.problem().text(), setting.device().name,
                                 selector_of(setting.device()), explain_empty(space.report_)));
  }
  space.finish_defaults();
  return space;
}

Space Space::build(const Variant& variant, const SpaceOptions& options) {
  Space space;
  BuiltVariant built = build_variant(variant, {}, nullptr, options.max_states);
  space.report_.variants.push_back(std::move(built.report));
  if (!built.legal) {
    throw InputError(variant.where,
                     fmt::format("no config is legal:{}", explain_empty(space.report_)));
  }
  space.add(*std::move(built.configs), *built.legal);
  space.finish_defaults();
  return space;
}

Space Space::of(std::vector<VariantSpace> variants) {
  Space space;
  for (VariantSpace& configs : variants) {
    configs.shrink_to_fit();
    if (configs.size() == 0) continue;
    VariantReport report;
    report.variant = configs.name();
    report.combinations = report.configs = configs.size();
    report.bytes = configs.bytes();
    space.report_.variants.push_back(std::move(report));
    space.add(std::move(configs), 0);
  }
  if (space.size_ == 0) throw InputError("a space needs at least one config");
  space.finish_defaults();
  return space;
}

void Space::add(VariantSpace configs, std::size_t legal) {
  const std::size_t first = size_;
  if (__builtin_add_overflow(size_, configs.size(), &size_) || size_ > kMaxIndices) {
    throw InputError("the space holds more than 2^63 configs; choose variants");
  }
  if (const auto index = configs.default_index()) default_indices_.push_back(first + *index);
  parts_.push_back({std::move(configs), first, first + legal});
}

void Space::finish_defaults() {
  if (!default_indices_.empty()) return;
  Random random(kSeed);
  const auto legal = is_legal(0) ? std::size_t{0} : sample(random);
  default_indices_.push_back(legal.value_or(parts_.front().legal));
}

bool Space::is_exact() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.configs.is_exact(); });
}

bool Space::is_legal(std::size_t index) const {
  const Part& part = part_of(index);
  return part.configs.is_legal(index - part.first);
}

std::optional<std::size_t> Space::sample(Random& random) const {
  Effort effort(kMaxDraws);
  return sample(random, {0, size_}, effort);
}

std::optional<std::size_t> Space::sample(Random& random, Range range, Effort& effort) const {
  while (effort.spend()) {
    const std::size_t index = range.first + random.below(range.last - range.first);
    if (is_legal(index)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> Space::scan(Random& random,
                                       const std::function<bool(std::size_t)>& is_wanted,
                                       Effort& effort) const {
  const auto anywhere = [&] {  // variants alike, whatever their sizes
    const Part& part = parts_[random.below(parts_.size())];
    return part.first + random.below(part.configs.size());
  };
  return scan_from_places(effort, anywhere, [&](std::size_t place, Effort& part) {
    const auto index = first_wanted({place, size_}, is_wanted, part);
    return index || part.is_spent() ? index : first_wanted({0, place}, is_wanted, part);
  });
}

std::optional<std::size_t> Space::first_wanted(Range range,
                                               const std::function<bool(std::size_t)>& is_wanted,
                                               Effort& effort) const {
  for (const Part& part : parts_) {
    const std::size_t end = std::min(range.last, part.first + part.configs.size());
    while (range.first < end) {
      const auto index =
          part.configs.next_legal(range.first - part.first, end - part.first, effort);
      if (!index && effort.is_spent()) return std::nullopt;
      if (index && is_wanted(part.first + *index)) return part.first + *index;
      range.first = index ? part.first + *index + 1 : end;
    }
  }
  return std::nullopt;
}

Config Space::at(std::size_t index) const {
  const Part& part = part_of(index);
  return part.configs.at(index - part.first);
}

std::optional<std::size_t> Space::index_of(const Config& config) const {
  for (const Part& part : parts_) {
    if (part.configs.name() != config.variant) continue;
    const std::optional<std::size_t> index = part.configs.index_of(config);
    if (index) return part.first + *index;
  }
  return std::nullopt;
}

SpaceRow Space::row(std::size_t index) const {
  const Part& part = part_of(index);
  return {static_cast<std::size_t>(&part - parts_.data()), part.configs.row(index - part.first)};
}

std::optional<std::size_t> Space::index_of(const SpaceRow& row) const {
  const Part& part = parts_.at(row.variant);
  const std::optional<std::size_t> index = part.configs.index_of(row.values);
  if (!index) return std::nullopt;
  return part.first + *index;
}

const std::vector<SpaceTunable>& Space::tunables(std::size_t variant) const {
  return parts_.at(variant).configs.tunables();
}

std::vector<std::size_t> Space::neighbours(std::size_t index, Neighbourhood kind) const {
  const Part& part = part_of(index);
  std::vector<std::size_t> out = kind == Neighbourhood::hamming
                                     ? part.configs.hamming_neighbours(index - part.first)
                                     : part.configs.adjacent_neighbours(index - part.first);
  for (std::size_t& neighbour : out) neighbour += part.first;
  return out;
}

Space::Range Space::variant_range(std::size_t index) const {
  const Part& part = part_of(index);
  return {part.first, part.first + part.configs.size()};
}

const Space::Part& Space::part_of(std::size_t index) const {
  if (index >= size_) {
    throw std::out_of_range(fmt::format("config {} of a space of {}", index, size_));
  }
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), index,
                       [](std::size_t wanted, const Part& part) { return wanted < part.first; });
  return *std::prev(after);
}

SpaceReport explain_space(const Setting& setting, const SpaceOptions& options) {
  const KernelSpec& spec = setting.spec();
  check_variant_names(spec, options.variants);
  SpaceReport report;
  for (const Variant& variant : spec.variants) {
    if (!is_wanted(variant, options)) continue;
    BuiltVariant built = build_variant(setting, variant, options.max_states);
    report.variants.push_back(std::move(built.report));
  }
  return report;
}

SpaceReport explain_space(const Variant& variant) {
  SpaceReport report;
  report.variants.push_back(build_variant(variant, {}, nullptr, SpaceOptions{}.max_states).report);
  return report;
}

}  // namespace kiln
