// Element types: names, sizes and rounding units.
// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.hpp"

#include <limits>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(DType, IsFoundByTheNameItGoesBy) {
  ASSERT_EQ(all_dtypes().size(), 12U);
  for (const DType type : all_dtypes()) EXPECT_EQ(parse_dtype(name_of(type)), type);
}

TEST(DType, IsNotFoundByAnyOtherName) {
  for (const char* name : {"", "f", "F32", "float", "f32 ", "i16", "e4m3fn", "fp8"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

TEST(DType, KnowsItsSizeInBytes) {
  std::vector<std::size_t> sizes;
  for (const DType type : all_dtypes()) sizes.push_back(size_of(type));
  EXPECT_THAT(sizes, testing::ElementsAre(1, 1, 4, 4, 8, 8, 1, 1, 2, 2, 4, 8));
}

TEST(DType, HasARoundingUnitOnlyWhenFloating) {
  EXPECT_EQ(epsilon_of(DType::e4m3), 0.125);
  EXPECT_EQ(epsilon_of(DType::e5m2), 0.25);
  EXPECT_EQ(epsilon_of(DType::f16), 0.0009765625);
  EXPECT_EQ(epsilon_of(DType::bf16), 0.0078125);
  EXPECT_EQ(epsilon_of(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon_of(DType::f64), std::numeric_limits<double>::epsilon());
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(is_floating(type), epsilon_of(type) > 0) << name_of(type);
  }
}

}  // namespace
}  // namespace kiln
