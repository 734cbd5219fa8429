// What a problem asks of a device whatever the config: its arguments in memory, its scalars in
// their types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/result.hpp"
#include "core/setting.hpp"

namespace kiln {

/// Returns a Failure {constraint, why} if no config can run the problem on this device: a type
/// cannot hold its scalar, an argument is impossible, or the arguments together exceed the device's
/// memory. The text names the number.
[[nodiscard]] Status check_problem_fits(const Setting& setting);

/// The same as an InputError. For whoever is about to run configs.
void require_problem_fits(const Setting& setting);

}  // namespace kiln
