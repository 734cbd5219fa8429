// in_parallel: a long loop over elements, on all cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace kiln {

/// Calls `work(first, last)` for ranges that together are [0, count), from several threads where
/// `count` is large: `work` must not change what others of its calls see. Returns when all have
/// ended. Of exceptions that they throw, that of the lowest range is thrown again.
void in_parallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace kiln
