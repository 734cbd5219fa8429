// The shipped wisdom: bests of the project's own sweeps (data/*.jsonl) inside the program and the
// library. So a user with one of these devices has tuned kernels from the first day.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_file.hpp"
#include "db/records.hpp"

namespace kiln {

/// The rows of data/, one part per file and kernel, "FILE/KERNEL", sorted. Each part is wisdom text
/// of its own, without the single samples of the finals (cmake/embed/pack.cpp).
[[nodiscard]] std::span<const EmbeddedFile> shipped_parts();

/// Returns the shipped bests of `kernel`, in the shipped layer. Does not inflate those of other
/// kernels. Skips a line that cannot be read; a test reads them all.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel);

/// The same from one wisdom text; `file` names it.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel,
                                                    std::string_view text, const std::string& file);

/// Returns the kernels with shipped bests, sorted.
[[nodiscard]] std::vector<std::string> shipped_kernels();

/// Returns the hash of all shipped parts. It identifies the shipped rows.
[[nodiscard]] std::string shipped_hash();

}  // namespace kiln
