// SPDX-License-Identifier: Apache-2.0
#include "lookup/likeness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/dtype.hpp"
#include "core/problem_distance.hpp"

namespace kiln {
namespace {

bool is_number(const ProblemField& field) {
  return field.type == FieldType::integer || field.type == FieldType::floating;
}

// What a field that differs costs; nullopt when it must not.
std::optional<double> cost_of(const ProblemField& field, const Value& a, const Value& b) {
  if (field.weight == 0) return 0;  // the spec says that it does not matter
  if (field.type != FieldType::dtype) return kUnlikeChoice;
  const std::optional<DType> one = parse_dtype(to_text(a));
  const std::optional<DType> other = parse_dtype(to_text(b));
  if (!one || !other || size_of(*one) != size_of(*other)) return std::nullopt;
  return kUnlikeDtype;
}

/// The largest power of two, as an exponent up to 6, that divides the size: 64 is as wide as most
/// tiles, and 32 floats are a cache line.
int alignment(const Value& size) {
  constexpr int kSixtyFour = 6;
  const auto* number = std::get_if<std::int64_t>(&size);
  if (number == nullptr) return kSixtyFour;
  return std::min(std::countr_zero(static_cast<std::uint64_t>(*number)), kSixtyFour);
}

}  // namespace

std::optional<Likeness> likeness(const KernelSpec& spec, const Problem& a, const Problem& b) {
  Likeness result{size_distance(spec, a, b), {}};
  for (const ProblemField& field : spec.problem) {
    if (is_number(field) || a.at(field.name) == b.at(field.name)) continue;
    const std::optional<double> extra = cost_of(field, a.at(field.name), b.at(field.name));
    if (!extra) return std::nullopt;
    result.distance += *extra;
    result.unlike.push_back(field.name);
  }
  return result;
}

double alignment_gap(const KernelSpec& spec, const Problem& a, const Problem& b) {
  constexpr double kPerPower = 0.25;
  double gap = 0;
  for (const ProblemField& field : spec.problem) {
    if (field.type != FieldType::integer || field.weight == 0) continue;
    gap += kPerPower * std::abs(alignment(a.at(field.name)) - alignment(b.at(field.name)));
  }
  return gap;
}

double device_gap(const DeviceInfo& a, const DeviceInfo& b) {
  if (identity_of(a) == identity_of(b)) return 0;
  const bool siblings = a.backend == b.backend && a.architecture == b.architecture;
  return siblings ? kSiblingApart : kStrangerApart;
}

}  // namespace kiln
