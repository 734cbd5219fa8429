// Compares a declaration of ours with a vendor's: do they call the same function in the same way?
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <gtest/gtest.h>

namespace kiln {

/// Do two types pass in the same way? Pointers and integers of 8 bytes do; so do enums and ints.
template <typename Ours, typename Theirs>
constexpr bool passes_alike() {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of the pointers themselves
  return sizeof(Ours) == sizeof(Theirs) &&
         std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs> &&
         std::is_class_v<Ours> == std::is_class_v<Theirs>;
}

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};

template <typename OurResult, typename TheirResult, typename... OurArguments,
          typename... TheirArguments>
struct SameCall<OurResult (*)(OurArguments...), TheirResult (*)(TheirArguments...)> {
  static constexpr bool all_alike() {
    if constexpr (sizeof...(OurArguments) == sizeof...(TheirArguments)) {
      return passes_alike<OurResult, TheirResult>() &&
             (passes_alike<OurArguments, TheirArguments>() && ...);
    } else {
      return false;
    }
  }
  static constexpr bool value = all_alike();
};

template <typename Ours, typename Theirs>
void expect_number(Ours ours, Theirs theirs, const char* name) {
  EXPECT_EQ(static_cast<int>(ours), static_cast<int>(theirs)) << name;
}
#define EXPECT_NUMBER(ours, theirs) expect_number(ours, theirs, #theirs)

}  // namespace kiln
