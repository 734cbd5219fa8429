// Values written as C literals that have exactly the type asked for, in all three dialects.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/dtype.hpp"
#include "core/value.hpp"

namespace kiln {

/// `value` as a literal of an arithmetic type (f32, f64, i32, u32, i64 or u64); the texts "inf" and
/// "-inf" give the type's largest and smallest number. Throws TemplateFault when it does not fit.
[[nodiscard]] std::string c_literal(const Value& value, DType type);

}  // namespace kiln
