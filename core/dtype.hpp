// Element types: the closed list of what an argument of a kernel can hold.
//
// Everything that needs a type by name, its size or its rounding unit asks here. Names are the ones
// that specs, problems and the database use ("f32"); the words of each dialect live in templates/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace kiln {

/// e4m3 and e5m2 are the 8-bit floats of the Open Compute Project (OCP 8-bit Floating Point
/// Specification, revision 1.0, 2023), named by their bits of exponent and mantissa. e4m3 has no
/// infinities; its largest number is 448. e5m2 follows IEEE 754; its largest number is 57344.
enum class DType { i8, u8, i16, u16, i32, u32, i64, u64, e4m3, e5m2, f16, bf16, f32, f64 };

/// All element types, in the order above.
[[nodiscard]] std::span<const DType> all_dtypes();

/// Name as written in specs and problems, e.g. "f32".
[[nodiscard]] std::string_view name_of(DType type);

/// Inverse of name_of; nullopt when `name` is no element type.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

/// Size of one element in bytes.
[[nodiscard]] std::size_t size_of(DType type);

[[nodiscard]] bool is_floating(DType type);

/// Distance from 1 to the next larger value (2^-3 for e4m3, 2^-23 for f32); 0 for integers.
[[nodiscard]] double epsilon_of(DType type);

}  // namespace kiln
