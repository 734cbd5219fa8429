// The arguments of a launch: by name, typed where the application knows the type.
//
//   kernel.launch(stream, {kiln::array("in", in, n), kiln::scalar("alpha", 0.5),
//                          kiln::array("out", out, n)});
//   kernel.launch(queue, {kiln::memory("in", cl_mem_in, bytes),
//                         kiln::memory("out", cl_mem_out, bytes)});
//
// C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace kiln {

/// One argument of a launch. Made by memory(), array() and scalar(); refers to `name` until the
/// launch returned.
struct LaunchArgument {
  /// large_integer: above the largest std::int64_t; `integer` has the bits of a std::uint64_t.
  enum class Kind { memory, integer, floating, large_integer };
  std::string_view name;
  Kind kind = Kind::memory;
  const void* memory = nullptr;  ///< device pointer (CUDA, HIP) or cl_mem
  std::size_t bytes = 0;         ///< size of the memory from `offset` on
  std::size_t offset = 0;        ///< bytes from the start of the memory
  std::string_view dtype;        ///< element type ("f32") if it is known; empty: not checked
  std::int64_t integer = 0;
  double floating = 0;
};

namespace detail {
template <typename T>
constexpr std::string_view dtype_of() {
  if constexpr (!std::is_arithmetic_v<T> || std::is_same_v<T, char>) {
    return "";  // char has a sign on some machines and none on others
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? "f32" : "f64";
  } else if constexpr (sizeof(T) == 1) {
    return std::is_unsigned_v<T> ? "u8" : "i8";
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? "i32" : "u32";
  } else if constexpr (sizeof(T) == 8) {
    return std::is_signed_v<T> ? "i64" : "u64";
  } else {
    return "";
  }
}
}  // namespace detail

/// The element type of a T in memory, as specs name it; "": not checked. C++17 has no types for
/// f16, bf16, e4m3 and e5m2: an application names its own once, at namespace scope:
///   template <>
///   inline constexpr std::string_view kiln::element_type<__nv_fp8_e4m3> = "e4m3";
template <typename T>
inline constexpr std::string_view element_type = detail::dtype_of<T>();

/// Device memory without an element type. `memory`: a device pointer or a cl_mem. `bytes`: the
/// usable size from `offset` on.
inline LaunchArgument memory(std::string_view name, const void* memory, std::size_t bytes,
                             std::size_t offset = 0) {
  LaunchArgument argument;
  argument.name = name;
  argument.memory = memory;
  argument.bytes = bytes;
  argument.offset = offset;
  return argument;
}

/// A device pointer to `count` elements of T; T is checked against the spec.
template <typename T>
LaunchArgument array(std::string_view name, T* pointer, std::size_t count) {
  using Element = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<Element> || !element_type<Element>.empty(),
                "kiln::array takes pointers to numbers; specialise kiln::element_type for a type "
                "of yours, or use kiln::memory");
  LaunchArgument argument = memory(name, pointer, count * sizeof(T));
  argument.dtype = element_type<Element>;
  return argument;
}

/// A number passed by value. A whole number fits every type that can hold it. A floating-point
/// number fits only floating-point arguments. They round to nearest and refuse finite numbers
/// beyond their range. e4m3 also refuses infinities, since it has none.
template <typename T>
LaunchArgument scalar(std::string_view name, T value) {
  static_assert(std::is_arithmetic_v<T>, "kiln::scalar takes numbers");
  LaunchArgument argument;
  argument.name = name;
  if constexpr (std::is_floating_point_v<T>) {
    argument.kind = LaunchArgument::Kind::floating;
    argument.floating = static_cast<double>(value);
  } else {
    argument.kind = LaunchArgument::Kind::integer;
    argument.integer = static_cast<std::int64_t>(value);
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) {
      constexpr T kLargest = static_cast<T>(std::numeric_limits<std::int64_t>::max());
      if (value > kLargest) argument.kind = LaunchArgument::Kind::large_integer;
    }
  }
  return argument;
}

}  // namespace kiln
