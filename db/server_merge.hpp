// Merges sessions into the tables of a server, beside other programs that write there. Private to
// db/.
//
// A session that is there already is extended in its place: rows are added, none is removed. So a
// role without the right to delete may merge, and merging once more changes nothing.
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

/// Adds what `sources` hold and the server `url` lacks, all of it in one transaction. Leaves the
/// totals of the report at 0: counting takes longer than a small merge. Throws
/// DatabaseError, or TransientError if the server went away; then nothing, or all of it, is stored.
[[nodiscard]] MergeReport merge_into_server(
    const std::vector<std::unique_ptr<MergedSource>>& sources, const std::filesystem::path& url);

}  // namespace kiln
