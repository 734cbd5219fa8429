// Puts functions of this library in the place of cuBLAS's in a process that is running already: the
// loader's tables of every loaded object are rewritten. For programs that cannot be started anew
// with LD_PRELOAD, such as a Python session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace kiln::blas {

struct Replacement {
  std::string_view name;
  void* function = nullptr;
};

/// Rewrites the entries of all loaded objects that call one of these names, but not those of this
/// library and of cuBLAS itself. Returns the number of entries; objects that are loaded later are
/// not seen, so call it again then. A call that is under way ends where it began. Any thread.
[[nodiscard]] int attach(std::span<const Replacement> replacements) noexcept;

}  // namespace kiln::blas
