// Reads a spec.toml.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/spec.hpp"

namespace kiln {

/// Where the text of a spec comes from.
enum class SpecOrigin {
  user,
  /// Built into the program, and validated by its tests: nothing is checked that needs the
  /// expressions, and these are parsed at their first use. A launcher reads a spec at its first
  /// launch, which waits for that.
  built_in,
};

/// Reads and validates a spec: unknown keys, missing keys, wrong types, expressions that use names
/// nobody defines, defaults outside their values, steps that name unknown arguments. Throws
/// InputError with file:line:column and what was expected. Does not read files: `files` stays
/// empty.
[[nodiscard]] KernelSpec parse_spec(const std::string& text, const std::string& path,
                                    SpecOrigin origin = SpecOrigin::user);

}  // namespace kiln
