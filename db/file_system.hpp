// What kind of file system a database lies on. Private to db/.
//
// WAL keeps its index in memory that processes share; file systems of a network offer none, and a
// WAL there ends in a damaged file. So what is known to be one gets the rollback journal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace kiln {

/// True for the file systems of statfs(2) whose locks or shared memory WAL cannot rely on (NFS,
/// SMB, Lustre, GPFS, BeeGFS, Ceph, 9p, FUSE, ...). `type` is statfs's f_type.
[[nodiscard]] bool is_network_file_system(std::uint32_t type);

/// The same for the file system that holds `path`, which must exist; false where it cannot be
/// asked.
[[nodiscard]] bool is_network_file_system(const std::filesystem::path& path);

/// For tests: every path is on a file system of this type until nullopt is set. Not thread-safe.
void pretend_file_system(std::optional<std::uint32_t> type);

/// The folder that a file of this path lies in; "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// The file that `path` leads to where it is a link, one that is not there yet as well; else `path`
/// itself.
[[nodiscard]] std::filesystem::path linked_file(const std::filesystem::path& path);

/// fsync of a file's content, or of a folder's names. False, with the reason in errno, where it
/// fails.
[[nodiscard]] bool sync_to_disk(const std::filesystem::path& path);

}  // namespace kiln
