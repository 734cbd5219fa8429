// Fields by name: a struct declares its fields a second time in a function visit_fields() beside
// it, and JSON, messages between processes, the database and tests walk over them.
//
//   struct Size {
//     int rows = 0;
//   };
//   template <IsA<Size> T, typename Visit>
//   void visit_fields(T& size, Visit&& visit) {
//     visit("rows", size.rows);
//   }
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

}  // namespace kiln
