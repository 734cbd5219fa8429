// One part of a sweep, so that several hosts can share a plan without a server: `--shard 3/8`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln::cli {

/// Part `index` (from 1) of `count` parts.
struct Shard {
  std::uint64_t index = 1;
  std::uint64_t count = 1;
};

/// Reads "3/8". Throws UsageError for anything else.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Returns whether the shard contains this problem. A hash of the kernel's name and the problem
/// decides, so every problem is in one shard, on every host, whatever else the plan holds.
[[nodiscard]] bool has(const Shard& shard, const KernelSpec& spec, const Problem& problem);

}  // namespace kiln::cli
