// How often a thread asked for memory: for tests and benchmarks of paths that must not.
//
// Linking allocation_counter.cpp replaces operator new for the whole program, shared libraries
// included, as the language allows. C's malloc is not counted: drivers call it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::test {

/// Calls of operator new in the calling thread so far.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace kiln::test
