// DescribedSpace: tunables and constraints of another tuner's kernel, without the kernel.
//
// The readers of foreign formats fill it; a Space is built from its variant. Constraints are texts
// in Python syntax, which our expression language reads as Python means them; what it cannot read
// is refused with the place in the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec.hpp"

namespace kiln {

struct DescribedSpace {
  std::string name;
  Variant variant;                            ///< tunables and constraints; no template, no steps
  std::optional<std::uint64_t> combinations;  ///< as the file states them
  std::optional<std::uint64_t> configs;       ///< the same for the legal ones
};

/// Reads a T1 file or a list of spaces, whichever `text` is. Throws InputError naming the file and
/// the line, or the tunable, with what was expected there, for anything else.
[[nodiscard]] std::vector<DescribedSpace> read_described_spaces(std::string_view text,
                                                                const std::string& path);

}  // namespace kiln
