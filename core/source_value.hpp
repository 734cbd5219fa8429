// How a value of a spec is written in a plain source: as a macro or as a template argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/dtype.hpp"
#include "core/value.hpp"

namespace kiln {

/// The name of an element type in the language of `backend` ("cuda", "hip", "opencl"). Throws
/// InputError where the language has none.
[[nodiscard]] std::string source_type(DType type, const std::string& backend);

/// `value` as a template argument: true, 16, 0.5, a word; the name of an element type ("f32") as
/// source_type().
[[nodiscard]] std::string source_argument(const Value& value, const std::string& backend);

/// The same as the value of a macro: 1 and 0 for booleans, so that #if reads them in C, too.
[[nodiscard]] std::string source_macro(const Value& value, const std::string& backend);

}  // namespace kiln
