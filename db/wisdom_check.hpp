// Wisdom against the spec of its kernel: what makes a stranger's best fit to be stored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/spec.hpp"
#include "db/store.hpp"

namespace kiln {

/// Holds `best` against `spec`: the problem and the config are ones of the spec, and the config is
/// legal for this problem on the device it was tuned on. Brings both to their canonical form. A
/// best of an older template is sound (a lookup calls it stale). Throws InputError that says what
/// does not fit.
void check_wisdom(const KernelSpec& spec, BestRecord& best);

/// The session that a database stores for an imported best: its finalists are the trials. `best`
/// went through check_wisdom().
[[nodiscard]] FinishedSession imported_session(const KernelSpec& spec, const BestRecord& best);

}  // namespace kiln
