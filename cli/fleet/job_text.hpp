// What a job says of its search, as JSON in its row; and its result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/search_options.hpp"
#include "core/device.hpp"
#include "db/fleet.hpp"
#include "db/store.hpp"

namespace kiln::cli {

/// The settings of a job, and whether samples are taken with a warm cache.
[[nodiscard]] std::string settings_text(const SearchSettings& settings, bool warm_cache);

/// Puts them over `options`. Throws InputError for a text that settings_text() did not write: the
/// row may come from another program.
void read_settings(const std::string& text, SearchOptions& options);

/// "NAME HASH", by which a worker finds the spec of a job.
[[nodiscard]] std::string spec_key(const std::string& kernel, const std::string& spec_hash);

/// Every beginning of an identity at its slashes, the longest last: "", "cuda", "cuda/nvidia", ...
[[nodiscard]] std::vector<std::string> beginnings_of(const std::string& identity);

/// The answer of a session as JSON, for lists of jobs.
[[nodiscard]] std::string result_text(const BestRecord& best);

}  // namespace kiln::cli
