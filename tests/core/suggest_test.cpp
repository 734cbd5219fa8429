// Hints for mistyped names: by case, by what others call a thing, by edits.
// SPDX-License-Identifier: Apache-2.0
#include "core/suggest.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Hints, AreTheSameWordInOtherLetters) {
  EXPECT_EQ(nearest_name("M", {"m", "n", "k"}), "m");
  EXPECT_EQ(nearest_name("OpenCL", {"auto", "cuda", "opencl"}), "opencl");
  EXPECT_EQ(nearest_name("tile-m", {"tile_n", "tile_m"}), "tile_m");
  EXPECT_EQ(nearest_name("x", {"m", "n", "k"}), std::nullopt);
}

TEST(Hints, KnowWhatOthersCallThings) {
  EXPECT_EQ(nearest_name("float", {"f64", "f32"}), "f32");
  EXPECT_EQ(nearest_name("fp8", {"f32", "e4m3", "e5m2"}), "e4m3");
  EXPECT_EQ(nearest_name("int8", {"f32", "i8"}), "i8");
  EXPECT_EQ(nearest_name("GEMM", {"reduce", "matmul"}), "matmul");
  EXPECT_EQ(nearest_name("gemm", {"reduce", "transpose"}), std::nullopt) << "not known here";
}

TEST(Hints, AreNamesWithFewEdits) {
  EXPECT_EQ(nearest_name("--trial", {"--seconds", "--trials"}), "--trials");
  EXPECT_EQ(did_you_mean("reduze", {"reduce", "matmul"}), "; did you mean 'reduce'?");
  EXPECT_EQ(did_you_mean("nothing", {"reduce", "matmul"}), "");
}

TEST(Lists, NameEachItemOnce) {
  EXPECT_EQ(comma_list({"a", "b", "a", "c", "b"}), "a, b, c");
  EXPECT_EQ(comma_list({}), "");
}

}  // namespace
}  // namespace kiln
