// Keeping the cache of binaries within its size.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// Deletes the entries of the open folder `folder` that were used longest ago, until they take at
/// most `limit` bytes, and what killed processes left half written an hour ago. An entry's time of
/// change is the time of its last use. Several processes may do this at once. Never fails: what
/// cannot be deleted stays.
void trim_cache(int folder, std::uint64_t limit) noexcept;

}  // namespace kiln
