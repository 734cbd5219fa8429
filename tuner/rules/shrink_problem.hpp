// Smaller and other problems of the same kind, to check the device reference against the CPU loop,
// and to check configs on other sizes. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/problem.hpp"

namespace kiln {

/// As far as one of several sizes of a checked problem goes: several passes of a large block, and
/// no more, since a tile of few elements costs as much as a full one.
inline constexpr std::int64_t kLongestOfSeveral = 16384;

/// The problem of these fields; nullopt if a rule of the spec refuses it.
[[nodiscard]] std::optional<Problem> try_problem(const KernelSpec& spec, const Fields& fields);

/// Of all arguments of this problem in total.
[[nodiscard]] double argument_elements(const KernelSpec& spec, const Problem& problem,
                                       const DeviceInfo& device);

/// Returns the operations of the CPU loop: the spec's cpu_operations, or else the elements of the
/// arguments.
[[nodiscard]] double cpu_operations(const KernelSpec& spec, const Problem& problem,
                                    const DeviceInfo& device);

/// Halves the largest integer field, again and again, until the CPU loop costs at most
/// `max_operations` or nothing can be halved without breaking a problem rule. Compile-time fields,
/// fields with a list of values and fields with weight 0 do not change. Fields that hold their
/// default follow the fields that they are computed from.
[[nodiscard]] Problem shrink_problem(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device, double max_operations);

/// Other problems of the same compile-time fields whose CPU loop takes at most `max_operations`,
/// and not much less where sizes may grow: sizes that leave tails everywhere, sizes that whole
/// vectors fit, tiny ones, powers of two and one more, two or three and many where the problem
/// has one of something, and shapes that are large in one direction only, or in all but one, or
/// larger in one and smaller in the others. A dozen for three sizes. None when no size may be
/// changed, or the loop cannot be made short enough.
[[nodiscard]] std::vector<Problem> extra_problems(const KernelSpec& spec, const Problem& problem,
                                                  const DeviceInfo& device, double max_operations);

/// Problems of few blocks for this config: for each of the largest sizes, the others being 2 and 3,
/// the least at which it launches more of them than at the least legal one, half as much again, and
/// two and a quarter times as much. A kernel treats its only block and its last block differently
/// from two blocks, and may combine two results but not three. The problems have the same
/// compile-time fields and need at most `max_operations` of the CPU loop.
[[nodiscard]] std::vector<Problem> border_problems(const KernelSpec& spec, const Config& config,
                                                   const Problem& problem, const DeviceInfo& device,
                                                   double max_operations);

}  // namespace kiln
