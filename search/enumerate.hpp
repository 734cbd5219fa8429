// Depth-first listing of the legal configs of one variant. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "core/config.hpp"
#include "search/space_report.hpp"
#include "search/variant_space.hpp"

namespace kiln {

/// Called with each legal row, in lexicographic order; returns false to stop.
using RowSink = std::function<bool(std::span<const ValueIndex>)>;

/// Lists the legal configs of `variant`, without its `requires`. Throws InputError when more than
/// 10^9 steps did not suffice.
[[nodiscard]] VariantReport enumerate(const KernelSpec& spec, const Variant& variant,
                                      const Problem& problem, const DeviceInfo& device,
                                      const RowSink& sink);

}  // namespace kiln
