// What a database's file is, and the kind of file system that holds it.
//
// WAL keeps its index in memory that processes share. Network file systems offer no such memory,
// and a WAL there ends in a damaged file. So a known network file system gets the rollback journal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace kiln {

/// True for the file systems of statfs(2) whose locks or shared memory WAL cannot rely on (NFS,
/// SMB, Lustre, GPFS, BeeGFS, Ceph, 9p, FUSE, ...). `type` is statfs's f_type.
[[nodiscard]] bool is_network_file_system(std::uint32_t type);

/// The same for the file system that holds `path`, which must exist; false if statfs fails.
[[nodiscard]] bool is_network_file_system(const std::filesystem::path& path);

/// For tests: every path is on a file system of this type until nullopt is set. Not thread-safe.
void pretend_file_system(std::optional<std::uint32_t> type);

/// Returns the folder of this path; "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// If `path` is a link, returns its target, which may not exist yet; else `path` itself.
[[nodiscard]] std::filesystem::path linked_file(const std::filesystem::path& path);

/// Does the file begin as SQLite's files do? False if it cannot be read.
[[nodiscard]] bool is_sqlite_file(const std::filesystem::path& path);

/// Syncs a file's content, or a folder's names, to disk. Returns false on failure, with the reason
/// in errno.
[[nodiscard]] bool sync_to_disk(const std::filesystem::path& path);

}  // namespace kiln
