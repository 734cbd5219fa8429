// Checks wisdom against the spec of its kernel, before a stranger's best is stored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/spec.hpp"
#include "db/records.hpp"

namespace kiln {

/// Checks `best` against `spec`: problem and config must belong to the spec, and the config must be
/// legal for this problem on its device. Brings both to their canonical form. A best of an older
/// template is accepted; a lookup calls it stale. Throws InputError, which says what does not fit.
void check_wisdom(const KernelSpec& spec, BestRecord& best);

/// Returns the session that a database stores for an imported best: its finalists are the trials.
/// `best` must have passed check_wisdom().
[[nodiscard]] FinishedSession imported_session(const KernelSpec& spec, const BestRecord& best);

}  // namespace kiln
