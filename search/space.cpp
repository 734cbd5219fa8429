// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/constraint_text.hpp"
#include "core/suggest.hpp"
#include "search/enumerate.hpp"

namespace kiln {
namespace {

std::string why_impossible(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                           const DeviceInfo& device) {
  if (!variant.requires_) return "";
  const Scope scope = make_scope(spec, problem, device);
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

VariantReport report_variant(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                             const DeviceInfo& device, const RowSink& sink) {
  std::string impossible = why_impossible(spec, variant, problem, device);
  if (impossible.empty()) return enumerate(spec, variant, problem, device, sink);
  VariantReport report;
  report.variant = variant.name;
  report.impossible = std::move(impossible);
  return report;
}

}  // namespace

Space Space::build(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                   const SpaceOptions& options) {
  check_variant_names(spec, options.variants);
  Space space;
  for (const Variant& variant : spec.variants) {
    const auto& wanted = options.variants;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), variant.name) == wanted.end()) {
      continue;
    }
    VariantSpace configs(variant);
    const std::size_t room = options.max_configs - space.size_;
    const RowSink sink = [&](std::span<const ValueIndex> row) {
      if (configs.size() == room) {
        throw InputError(
            fmt::format("the space of {} holds more than {} configs; add constraints or "
                        "choose variants",
                        spec.name, options.max_configs));
      }
      configs.append(row);
      return true;
    };
    space.report_.variants.push_back(report_variant(spec, variant, problem, device, sink));
    space.add(std::move(configs));
  }
  if (space.size_ == 0) {
    throw InputError(fmt::format("no config of {} is legal for {} on {} ({}):{}", spec.name,
                                 problem.text(), device.name, selector_of(device),
                                 explain_empty(space.report_)));
  }
  if (space.default_indices_.empty()) space.default_indices_.push_back(0);
  return space;
}

Space Space::of(std::vector<VariantSpace> variants) {
  Space space;
  for (VariantSpace& configs : variants) {
    VariantReport report;
    report.variant = configs.name();
    report.combinations = report.configs = configs.size();
    space.report_.variants.push_back(std::move(report));
    space.add(std::move(configs));
  }
  if (space.size_ == 0) throw InputError("a space needs at least one config");
  if (space.default_indices_.empty()) space.default_indices_.push_back(0);
  return space;
}

void Space::add(VariantSpace configs) {
  if (configs.size() == 0) return;
  configs.shrink_to_fit();
  const std::size_t first = size_;
  size_ += configs.size();
  if (const auto index = configs.default_index()) default_indices_.push_back(first + *index);
  parts_.push_back({std::move(configs), first});
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
  const std::span<const ValueIndex> values = part.configs.row(index - part.first);
  return {static_cast<std::size_t>(&part - parts_.data()), {values.begin(), values.end()}};
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

SpaceReport explain_space(const KernelSpec& spec, const Problem& problem,
                          const DeviceInfo& device) {
  SpaceReport report;
  const RowSink count_only = [](std::span<const ValueIndex>) { return true; };
  for (const Variant& variant : spec.variants) {
    report.variants.push_back(report_variant(spec, variant, problem, device, count_only));
  }
  return report;
}

}  // namespace kiln
