// Lists of values as Python writes them, in T1 files:
//
//   [1, 2, 4]    [2**i for i in range(0, 6)]    list(range(32, 1024+1, 32))    one + another
//
// Items are expressions of our own language over nothing but the name behind `for`; nothing is
// handed to an interpreter. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/value.hpp"

namespace kiln::interchange {

/// `where` is the place of the first character. Throws InputError with the place of what is neither
/// of the forms above, and for more than 65,534 values.
[[nodiscard]] std::vector<Value> parse_value_list(std::string_view text,
                                                  const SourceLocation& where);

}  // namespace kiln::interchange
