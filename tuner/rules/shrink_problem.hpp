// Smaller and other problems of the same kind, to check the device reference against the CPU loop,
// and to check configs on other sizes. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/setting.hpp"

namespace kiln {

/// The largest value of one of several sizes of a checked problem: several passes of a large block.
/// More would only cost time, since a tile of few elements costs as much as a full one.
inline constexpr std::int64_t kLongestOfSeveral = 16384;

/// The problem of these fields; nullopt if a rule of the spec refuses it.
[[nodiscard]] std::optional<Problem> try_problem(const KernelSpec& spec, const Fields& fields);

/// Returns the elements of all arguments of the setting's problem.
[[nodiscard]] double argument_elements(const Setting& setting);

/// Returns the operations of the CPU loop: the spec's cpu_operations, or else the elements of the
/// arguments.
[[nodiscard]] double cpu_operations(const Setting& setting);

/// Halves the largest integer field of the setting's problem, again and again, until the CPU loop
/// costs at most `max_operations` or nothing can be halved without breaking a problem rule.
/// Compile-time fields, fields with a list of values and fields with weight 0 do not change. Fields
/// that hold their default follow the fields that they are computed from; a size whose default is a
/// number is halved as if it were given.
[[nodiscard]] Problem shrink_problem(const Setting& setting, double max_operations);

/// Returns other problems with the same compile-time fields. Their CPU loop takes at most
/// `max_operations`, and not much less if sizes may grow. They have
///
/// - sizes that leave tails everywhere, or that fit whole vectors;
/// - tiny sizes, and powers of two and one more;
/// - two, three or many if the problem has one of something;
/// - shapes that are large in one direction only, in all but one, or in one with the others small.
///
/// Three sizes give a dozen problems. Returns none if no size may be changed, or if the loop cannot
/// be made short enough.
[[nodiscard]] std::vector<Problem> extra_problems(const Setting& setting, double max_operations);

/// Returns problems with few blocks for this config. For each of the largest sizes, with the others
/// at 2 and 3, these are the smallest size that launches more blocks than the least legal one, and
/// 1.5 and 2.25 times that size. A kernel treats its only block and its last block differently
/// from two blocks, and may combine two results but not three. The problems have the same
/// compile-time fields and need at most `max_operations` of the CPU loop.
[[nodiscard]] std::vector<Problem> border_problems(const Setting& setting, const Config& config,
                                                   double max_operations);

}  // namespace kiln
