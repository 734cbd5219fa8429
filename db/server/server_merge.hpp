// Merges sessions into the tables of a server, while other programs write there too. Private to
// db/.
//
// Extends a stored session in place: adds rows and removes none. So a role without the right to
// delete may merge, and merging twice changes nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "db/merge.hpp"
#include "db/merge_sources.hpp"

namespace kiln {

/// Adds what these sessions hold and the server lacks, within a transaction of the caller.
void merge_sessions(const std::vector<MergedCopy>& copies, sql::Database& target,
                    MergeReport& report);

/// Adds the rows of `sources` that the server `url` lacks, in one transaction. Leaves the totals of
/// the report at 0: counting takes longer than a small merge. Throws DatabaseError, or
/// TransientError if the server went away; then either nothing or everything is stored.
[[nodiscard]] MergeReport merge_into_server(
    const std::vector<std::unique_ptr<MergedSource>>& sources, const std::filesystem::path& url);

}  // namespace kiln
