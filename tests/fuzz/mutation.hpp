// Mutations: inputs made from seeds, the same for the same number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kiln::fuzz {

inline constexpr std::size_t kMaxInputBytes = 128 * 1024;

/// Input `number` of the seeds: the seeds themselves first, then a seed with one to eight changes:
/// bits, bytes and numbers altered, ranges dropped, doubled, repeated many times or taken from
/// another seed.
[[nodiscard]] std::string make_input(std::span<const std::string> seeds, std::uint64_t number);

}  // namespace kiln::fuzz
