// `kiln best KERNEL` without a problem: what is known of the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "core/spec.hpp"
#include "db/store.hpp"

namespace kiln::cli {

/// A row for each problem of the database, the newest first, with its config; below it how many
/// problems the shipped wisdom knows, by device.
[[nodiscard]] std::string best_list(const KernelSpec& spec, const std::vector<BestRecord>& bests,
                                    const Screen& screen);

}  // namespace kiln::cli
