// Fields by name: a struct lists its fields a second time, and JSON, messages between processes,
// the database and tests walk over them by visit_fields().
//
//   struct Size {
//     int rows = 0;
//     int columns = 0;
//   };
//   KILN_FIELDS(Size, rows, columns);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

namespace kiln {

/// `T`, const or not.
template <typename T, typename Struct>
concept IsA = std::same_as<std::remove_const_t<T>, Struct>;

struct IgnoreFields {
  template <typename Field>
  void operator()(const char* /*name*/, Field& /*field*/) const {}
};

/// Satisfied by structs with visit_fields(), which calls `visit(name, field)` for each field, in
/// the order of their JSON.
template <typename T>
concept HasFields = requires(T& value) {
  visit_fields(value, IgnoreFields{});
};

// A struct whose fields have other names elsewhere writes visit_fields() itself.
#define KILN_FIELDS(Struct, ...)               \
  template <IsA<Struct> T, typename Visit>     \
  void visit_fields(T& value, Visit&& visit) { \
    KILN_EXPAND(KILN_VISIT_NEXT(__VA_ARGS__))  \
  }                                            \
  static_assert(HasFields<Struct>)

// Up to 64 fields: each scan by the preprocessor writes the visit of one more.
#define KILN_VISIT_NEXT(field, ...) \
  visit(#field, value.field);       \
  __VA_OPT__(KILN_VISIT_LATER KILN_NO_ARGUMENTS(__VA_ARGS__))
#define KILN_VISIT_LATER() KILN_VISIT_NEXT
#define KILN_NO_ARGUMENTS ()
#define KILN_EXPAND(...) KILN_SCAN_16(KILN_SCAN_16(KILN_SCAN_16(KILN_SCAN_16(__VA_ARGS__))))
#define KILN_SCAN_16(...) KILN_SCAN_4(KILN_SCAN_4(KILN_SCAN_4(KILN_SCAN_4(__VA_ARGS__))))
#define KILN_SCAN_4(...) KILN_SCAN(KILN_SCAN(KILN_SCAN(KILN_SCAN(__VA_ARGS__))))
#define KILN_SCAN(...) __VA_ARGS__

}  // namespace kiln
