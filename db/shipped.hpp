// The shipped wisdom: bests of the project's own sweeps (data/*.jsonl), part of the program and the
// library, so that a user with one of these devices has tuned kernels on day one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/embedded_file.hpp"
#include "db/store.hpp"

namespace kiln {

/// The layer of shipped bests: behind every database.
inline constexpr int kShippedLayer = 1000;

/// The files of data/, sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> shipped_files();

/// The shipped bests of `kernel`, in the shipped layer. A line that cannot be read is left out: a
/// test reads them all.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel);

/// The same from `files`.
[[nodiscard]] std::vector<BestRecord> shipped_bests(const std::string& kernel,
                                                    std::span<const EmbeddedFile> files);

}  // namespace kiln
