// Keeps the cache of binaries within its size limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// Deletes the entries that were used longest ago until the rest takes at most `limit` bytes.
/// `folder` is the descriptor of the open folder. Also deletes temporary files of killed processes
/// that are older than an hour. An entry's modification time is the time of its last use. Several
/// processes may call this at once. Never fails: a file that cannot be deleted stays.
void trim_cache(int folder, std::uint64_t limit) noexcept;

}  // namespace kiln
