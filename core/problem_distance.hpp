// How far apart the sizes of two problems are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/problem.hpp"

namespace kiln {

/// Root of the sum of (weight * log2(a/b))^2 over the terms of [[distance]], or over the numeric
/// fields of a spec that has none, whatever the other fields are. Both problems are of `spec`.
[[nodiscard]] double size_distance(const KernelSpec& spec, const Problem& a, const Problem& b);

}  // namespace kiln
