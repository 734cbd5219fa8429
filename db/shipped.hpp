// The shipped wisdom: bests of the project's own sweeps (data/*.jsonl), part of the program and the
// library, so that a user with one of these devices has tuned kernels on day one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_file.hpp"
#include "db/store.hpp"

namespace kiln {

/// The layer of shipped bests: behind every database.
inline constexpr int kShippedLayer = 1000;

/// The rows of data/, one part per file and kernel, "FILE/KERNEL", sorted. Each part is wisdom text
/// of its own, without the single samples of the finals (cmake/embed/pack.cpp).
[[nodiscard]] std::span<const EmbeddedFile> shipped_parts();

/// The shipped bests of `kernel`, in the shipped layer; no other kernel's are inflated. A line that
/// cannot be read is left out: a test reads them all.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel);

/// The same from one wisdom text; `file` names it.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel,
                                                    std::string_view text, const std::string& file);

/// The kernels that there are shipped parts of, sorted.
[[nodiscard]] std::vector<std::string> shipped_kernels();

/// The hash of all shipped parts: which rows they are.
[[nodiscard]] std::string shipped_hash();

}  // namespace kiln
