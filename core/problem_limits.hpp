// What a problem asks of a device whatever the config: its arguments in memory, its scalars in
// their types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/result.hpp"
#include "core/setting.hpp"

namespace kiln {

/// A Failure {constraint, why} where no config can run the problem on this device: a scalar that
/// its type cannot hold, an argument that cannot be, arguments that together are larger than the
/// device's memory. The text names the number.
[[nodiscard]] Status check_problem_fits(const Setting& setting);

/// The same as an InputError. For whoever is about to run configs.
void require_problem_fits(const Setting& setting);

}  // namespace kiln
