// SPDX-License-Identifier: Apache-2.0
#include "search/space_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "search/saturating.hpp"

namespace kiln {
namespace {

std::string why_empty(const VariantReport& variant) {
  if (!variant.impossible.empty()) return variant.impossible;
  if (!variant.exact)
    return "its default config is not legal, and too few of its combinations are to find another "
           "one";
  const auto most =
      std::max_element(variant.rules.begin(), variant.rules.end(),
                       [](const RuleReport& a, const RuleReport& b) { return a.cut < b.cut; });
  if (most == variant.rules.end() || most->cut == 0) return "it has no combination of values";
  const std::string fault =
      most->first_fault.empty() ? "" : fmt::format("; first fault: {}", most->first_fault);
  return fmt::format("'{}' ({}) refuses {} of {} combinations{}", most->rule, most->because,
                     most->cut, variant.combinations, fault);
}

}  // namespace

std::string_view name_of(RuleReport::Kind kind) {
  switch (kind) {
    case RuleReport::Kind::when:
      return "when condition";
    case RuleReport::Kind::derived:
      return "derived value";
    case RuleReport::Kind::constraint:
      return "constraint";
    case RuleReport::Kind::launch_limit:
      break;
  }
  return "launch limit";
}

std::size_t SpaceReport::configs() const {
  std::size_t sum = 0;
  for (const VariantReport& variant : variants) sum += variant.configs;
  return sum;
}

std::uint64_t SpaceReport::combinations() const {
  std::uint64_t sum = 0;
  for (const VariantReport& variant : variants) sum = saturating_add(sum, variant.combinations);
  return sum;
}

std::size_t SpaceReport::bytes() const {
  std::size_t sum = 0;
  for (const VariantReport& variant : variants) sum += variant.bytes;
  return sum;
}

std::string explain_empty(const SpaceReport& report) {
  std::string text;
  for (const VariantReport& variant : report.variants) {
    text += fmt::format("\n  {}: {}", variant.variant, why_empty(variant));
  }
  return text;
}

}  // namespace kiln
