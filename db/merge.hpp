// Merges databases: the union of their sessions, whatever the order and however often.
//
// Of copies of one session at different points, the longest stays. Copies that went on separately
// are both kept, each whole. No measurement is lost. docs/database_format.md states the rules.
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
  std::size_t files = 0;     ///< files read: the sources, and the target if it existed
  std::size_t sessions = 0;  ///< sessions in the target now
  std::size_t trials = 0;
  std::size_t bests = 0;
  std::size_t repeated = 0;  ///< copies of sessions that another copy extends or equals
  std::size_t apart = 0;     ///< sessions kept although another has the same beginning
};

/// Merges `sources` and the content of `target` (if it exists) into `target`, completely or not at
/// all. Sources are only read; they and the target may be files or servers. Throws DatabaseError,
/// which names the unusable place, or the process that writes the target.
///
/// A new file replaces a target file by rename; if it is a link, the linked file is replaced, and
/// its session numbers change. Sessions of a server keep their numbers: rows are added to them.
MergeReport merge_databases(const std::vector<std::filesystem::path>& sources,
                            const std::filesystem::path& target);

/// Writes the sessions of `place` to the new file `path`, which nobody else uses.
void write_file_of(const std::filesystem::path& place, const std::filesystem::path& path);

/// Writes the content of a database as lines of JSON that depend only on that content, so equal
/// texts mean equal databases. Calls `sink` with each line, without its line end. Throws
/// DatabaseError.
void dump_database(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& sink);

}  // namespace kiln
