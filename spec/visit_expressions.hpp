// The expressions of a variant's parts, each with its key in the spec.
//
// Checks of names and searches for unused tunables walk over these, so that none of them misses an
// expression that is added later.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/spec.hpp"

namespace kiln {

namespace detail {

template <typename Visit>
void visit_each(const Visit& visit, const char* key, const Expression& expression) {
  visit(key, expression);
}

template <typename Visit>
void visit_each(const Visit& visit, const char* key, const std::optional<Expression>& expression) {
  if (expression) visit(key, *expression);
}

template <typename Visit>
void visit_each(const Visit& visit, const char* key, const std::vector<Expression>& expressions) {
  for (const Expression& expression : expressions) visit(key, expression);
}

}  // namespace detail

/// Calls `visit(key, expression)` for each expression of a workspace.
template <typename Visit>
void visit_expressions(const Workspace& workspace, const Visit& visit) {
  detail::visit_each(visit, "dtype", workspace.dtype);
  detail::visit_each(visit, "count", workspace.count);
  detail::visit_each(visit, "when", workspace.when);
}

/// The same of a tensor map, but for `of`, which may also name a buffer.
template <typename Visit>
void visit_expressions(const TensorMap& map, const Visit& visit) {
  detail::visit_each(visit, "dtype", map.dtype);
  detail::visit_each(visit, "offset", map.offset);
  detail::visit_each(visit, "shape", map.shape);
  detail::visit_each(visit, "strides", map.strides);
  detail::visit_each(visit, "box", map.box);
  detail::visit_each(visit, "lower", map.lower);
  detail::visit_each(visit, "upper", map.upper);
  detail::visit_each(visit, "element_strides", map.element_strides);
  detail::visit_each(visit, "swizzle", map.swizzle);
  detail::visit_each(visit, "l2_promotion", map.promotion);
  detail::visit_each(visit, "tf32", map.tf32);
  detail::visit_each(visit, "when", map.when);
}

/// The same of a step.
template <typename Visit>
void visit_expressions(const Step& step, const Visit& visit) {
  detail::visit_each(visit, "when", step.when);
  detail::visit_each(visit, "entry", step.entry.holes());
  detail::visit_each(visit, "grid", step.grid);
  detail::visit_each(visit, "block", step.block);
  detail::visit_each(visit, "cluster", step.cluster);
  detail::visit_each(visit, "shared_bytes", step.shared_bytes);
  for (const Derived& local : step.local) visit("local", local.value);
  detail::visit_each(visit, "programmatic", step.programmatic);
}

}  // namespace kiln
