// Merging databases: the union of their sessions, the same whatever the order and however often.
//
// Copies of one session at different points become the furthest one. Copies that went on apart are
// both kept, each whole: nothing that was measured is lost. docs/database_format.md states the
// rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

struct MergeReport {
  std::size_t files = 0;     ///< read: the sources, and the target where there was one
  std::size_t sessions = 0;  ///< in the target now
  std::size_t trials = 0;
  std::size_t bests = 0;
  std::size_t repeated = 0;  ///< copies of sessions that another copy extends or equals
  std::size_t apart = 0;     ///< sessions kept although another has the same beginning
};

/// Merges `sources` and what `target` holds (when it is there) into `target`, complete or not at
/// all: a new file that replaces it by rename, the file that it leads to where it is a link.
/// Sources are only read. Session numbers of the target
/// change. Throws DatabaseError naming the file that is unusable, or the process that writes the
/// target.
MergeReport merge_databases(const std::vector<std::filesystem::path>& sources,
                            const std::filesystem::path& target);

/// Everything a database holds as lines of JSON that depend on nothing but its content: equal
/// texts, equal databases. `sink` is called with each line, without its end. Throws DatabaseError.
void dump_database(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& sink);

}  // namespace kiln
