// Tensor maps of a spec: what is refused when it is read, what a plan makes of them, and the
// hardware's rules.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::spec_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// C = A of m rows, `lda` elements apart; everything that may be asked of a map is a problem field.
const std::string kSpec = R"toml(name = "copy"
arguments = [
  { name = "a", access = "read", dtype = "dtype", shape = ["m", "lda"] },
  { name = "c", access = "write", dtype = "dtype", shape = ["m", "k"] },
  { name = "scale", access = "scalar", dtype = "f32", value = 1 },
]
[problem.m]
type = "int"
[problem.k]
type = "int"
[problem.lda]
type = "int"
default = "k"
[problem.first]
type = "int"
default = 0
[problem.every]
type = "int"
default = 1
[problem.dtype]
type = "dtype"
values = ["u8", "e4m3", "f16", "f32", "f64"]
default = "f16"
specialize = true
[verify]
device_reference = "bulk"
[[variants]]
name = "bulk"
template = "bulk.inja"
tunables.rows = { values = [8, 64, 256, 512], default = 64 }
tunables.cols = { values = [4, 8, 64, 128], default = 64 }
tunables.swizzle = { values = [0, 32, 64, 128, 256], default = 128 }
tunables.staged = { values = [false, true], default = false }
workspace = [{ name = "staging", dtype = "f32", count = "m * k", when = "staged" }]
[[variants.tensor_maps]]
name = "map_a"
of = "staging if staged else a"
dtype = "dtype"
shape = ["m", "k"]
strides = ["lda"]
box = ["rows", "cols"]
element_strides = ["every", 1]
offset = "first"
swizzle = "swizzle"
l2_promotion = "256 if m > 100 else 0"
fill = "nan"
[[variants.tensor_maps]]
name = "map_c"
of = "c"
shape = ["m", "k"]
box = ["rows", "cols"]
when = "not staged"
[[variants.steps]]
entry = "copy_bulk"
grid = ["device.compute_units"]
block = [128]
programmatic = "m > 100"
arguments = ["map_a", "map_c", "staging", "scale"]
)toml";

std::string edited(const std::string& from, const std::string& to) {
  std::string text = kSpec;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the spec has no '" + from + "'");
  return text.replace(at, from.size(), to);
}

class TensorMaps : public ::testing::Test {
 protected:
  Result<LaunchPlan> plan(const std::string& problem, const std::string& config = "bulk") {
    const Problem parsed = Problem::parse(spec_, problem);
    return Setting(spec_, parsed, device_).plan(Setting(spec_, parsed, device_).parse(config));
  }
  std::string why_not(const std::string& problem, const std::string& config = "bulk") {
    const Result<LaunchPlan> result = plan(problem, config);
    if (result) return "";
    EXPECT_EQ(result.failure().outcome, Outcome::constraint);
    return result.failure().message;
  }
  void use(const std::string& text) { spec_ = parse_spec(text, "spec.toml"); }

  KernelSpec spec_ = parse_spec(kSpec, "spec.toml");
  DeviceInfo device_ = device_for_architecture("cuda", "sm_90a");
};

TEST_F(TensorMaps, AreEvaluatedInBytes) {
  const Result<LaunchPlan> result = plan("m=1000,k=96,lda=128,first=8,every=2");
  ASSERT_TRUE(result) << result.failure().message;
  const TensorMapPlan& map = *result->find_tensor_map("map_a");
  EXPECT_EQ(map.buffer, "a");
  EXPECT_EQ(map.dtype, DType::f16);
  EXPECT_EQ(map.offset_bytes, 16);
  EXPECT_THAT(map.shape, ElementsAre(1000, 96));
  EXPECT_THAT(map.stride_bytes, ElementsAre(256));
  EXPECT_THAT(map.box, ElementsAre(64, 64));
  EXPECT_THAT(map.element_strides, ElementsAre(2, 1));
  EXPECT_EQ(map.swizzle_bytes, 128);
  EXPECT_EQ(map.promotion_bytes, 256);
  EXPECT_TRUE(map.fill_nan);
  EXPECT_THAT(result->steps[0].grid, ElementsAre(132, 1, 1));
  EXPECT_TRUE(result->steps[0].programmatic);
}

TEST_F(TensorMaps, AreDenseAndPlainUnlessTheySayOtherwise) {
  const Result<LaunchPlan> result = plan("m=100,k=96", "bulk:swizzle=0");
  ASSERT_TRUE(result) << result.failure().message;
  const TensorMapPlan& map = *result->find_tensor_map("map_c");
  EXPECT_EQ(map.dtype, DType::f16);
  EXPECT_EQ(map.offset_bytes, 0);
  EXPECT_THAT(map.stride_bytes, ElementsAre(192));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 1));
  EXPECT_EQ(map.swizzle_bytes, 0);
  EXPECT_EQ(map.promotion_bytes, 0);
  EXPECT_FALSE(map.fill_nan);
  EXPECT_FALSE(result->steps[0].programmatic);
}

TEST_F(TensorMaps, RoundF32ToTf32WhereTheySaySo) {
  use(edited("fill = \"nan\"", "tf32 = \"first == 0\""));
  const Result<LaunchPlan> rounded = plan("m=1000,k=96,dtype=f32", "bulk:cols=8");
  ASSERT_TRUE(rounded) << rounded.failure().message;
  EXPECT_TRUE(rounded->find_tensor_map("map_a")->to_tf32);
  EXPECT_FALSE(rounded->find_tensor_map("map_c")->to_tf32);
  EXPECT_FALSE(plan("m=1000,k=96,lda=128,first=8")->find_tensor_map("map_a")->to_tf32);
  EXPECT_THAT(why_not("m=1000,k=96"), HasSubstr("copies round f32 to tf32, and it holds f16"));
}

TEST_F(TensorMaps, ExistWhereTheirWhenHoldsAndMayDescribeAWorkspace) {
  const Result<LaunchPlan> staged = plan("m=100,k=96", "bulk:staged=true");
  ASSERT_TRUE(staged) << staged.failure().message;
  EXPECT_EQ(staged->find_tensor_map("map_a")->buffer, "staging");
  EXPECT_EQ(staged->find_tensor_map("map_c"), nullptr);
  EXPECT_THAT(staged->steps[0].arguments, ElementsAre("map_a", "staging", "scale"));
  const Result<LaunchPlan> plain = plan("m=100,k=96");
  ASSERT_TRUE(plain) << plain.failure().message;
  EXPECT_EQ(plain->find_buffer("staging"), nullptr) << "workspaces have a 'when' too";
  EXPECT_THAT(plain->steps[0].arguments, ElementsAre("map_a", "map_c", "scale"));
}

// The most usual name of an argument is a word of the expression language.
TEST_F(TensorMaps, MayDescribeAnArgumentCalledIn) {
  std::string text = edited("name = \"a\"", "name = \"in\"");
  const std::string of = "of = \"staging if staged else a\"";
  const std::size_t at = text.find(of);
  for (const char* other : {"of = \"in\"", "of = \"staging if staged else 'in'\""}) {
    use(std::string(text).replace(at, of.size(), other));
    const Result<LaunchPlan> result = plan("m=100,k=96");
    ASSERT_TRUE(result) << result.failure().message;
    EXPECT_EQ(result->find_tensor_map("map_a")->buffer, "in");
  }
}

// Images of 30 x 20 pixels with 64 channels, for windows of 3 x 5, two pixels apart.
const std::string kImages =
    "shape = [\"m\", 30, 20, 64]\nbox = [\"rows\", \"cols\"]\nelement_strides = [1, 2, 2, 1]\n"
    "lower = [-1, -2]\nupper = [\"1 - 2\", \"2 - 4\"]\n";

std::string with_images(const std::string& map) {
  std::string text = edited("shape = [\"m\", \"lda\"]", "shape = [\"m\", 30, 20, 64]");
  const std::string from =
      "shape = [\"m\", \"k\"]\nstrides = [\"lda\"]\nbox = [\"rows\", \"cols\"]\n"
      "element_strides = [\"every\", 1]\n";
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the spec has no map_a like this");
  return text.replace(at, from.size(), map);
}

TEST_F(TensorMaps, OfImagesHaveCornersAndABoxOfPositions) {
  use(with_images(kImages));
  const Result<LaunchPlan> result = plan("m=8,k=96", "bulk:rows=256");
  ASSERT_TRUE(result) << result.failure().message;
  const TensorMapPlan& map = *result->find_tensor_map("map_a");
  EXPECT_THAT(map.box, ElementsAre(256, 64));
  EXPECT_THAT(map.lower, ElementsAre(-1, -2));
  EXPECT_THAT(map.upper, ElementsAre(-1, -2));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(map.stride_bytes, ElementsAre(76800, 2560, 128));
  EXPECT_TRUE(result->find_tensor_map("map_c")->lower.empty());
}

TEST_F(TensorMaps, OfImagesHoldTheRulesOfTheHardware) {
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string map = kImages;
    use(with_images(map.replace(map.find(from), from.size(), to)));
    return why_not("m=8,k=96");
  };
  EXPECT_THAT(with("lower = [-1, -2]", "lower = [-129, -2]"),
              HasSubstr("tensor map 'map_a': a corner must be from -128 to 127 (-129 = -129)"));
  EXPECT_THAT(with("2 - 4", "128"), HasSubstr("a corner must be from -128 to 127 (128 = 128)"));
  EXPECT_THAT(with("2 - 4", "-23"), HasSubstr("no position lies between the corners -2 and -23"));
  EXPECT_EQ(with("box = [\"rows\"", "box = [1024"), "") << "more than a side of a plain box";
  EXPECT_THAT(with("box = [\"rows\"", "box = [1025"), HasSubstr("from 1 to 1024 (1025 = 1025)"));
  EXPECT_THAT(with("[1, 2, 2, 1]", "[1, 2, 9, 1]"), HasSubstr("an element stride must be from 1"));
}

TEST_F(TensorMaps, NeedADeviceThatHasThem) {
  device_ = device_for_architecture("cuda", "sm_89");
  EXPECT_EQ(why_not("m=100,k=96"),
            "tensor map 'map_a': tensor maps need CUDA with compute capability 9.0");
  device_ = device_for_architecture("cuda", "sm_120");
  EXPECT_EQ(why_not("m=100,k=96"), "");
}

TEST_F(TensorMaps, HoldTheRulesOfTheHardware) {
  EXPECT_THAT(why_not("m=0,k=96"), HasSubstr("must be from 1 to 2^32 (m = 0)"));
  EXPECT_THAT(why_not("m=5Gi,k=64,dtype=u8"), HasSubstr("(m = 5368709120)"));
  EXPECT_THAT(why_not("m=9,k=99"),
              HasSubstr("'map_a': a stride of 198 bytes is no multiple of 16"));
  EXPECT_THAT(why_not("m=9,k=96,lda=-96"), HasSubstr("negative number of elements"));
  EXPECT_THAT(why_not("m=1,k=96,lda=1e12"), HasSubstr("a stride of 2000000000000 bytes"));
  EXPECT_THAT(why_not("m=9,k=96,first=4"), HasSubstr("its offset of 8 bytes"));
  EXPECT_THAT(why_not("m=9,k=96,first=-8"), HasSubstr("its offset of -16 bytes"));
  EXPECT_THAT(why_not("m=9,k=96,every=9"), HasSubstr("an element stride must be from 1 to 8"));
  EXPECT_THAT(why_not("m=9,k=96,every=0"), HasSubstr("an element stride must be from 1 to 8"));
  EXPECT_THAT(why_not("m=9,k=96", "bulk:rows=512"), HasSubstr("from 1 to 256 (rows = 512)"));
  EXPECT_THAT(why_not("m=9,k=96", "bulk:cols=4"), HasSubstr("innermost 8 bytes of a box"));
  EXPECT_THAT(
      why_not("m=9,k=96", "bulk:cols=128"),
      HasSubstr("innermost 256 bytes of a box are no multiple of 16 up to the swizzle's 128"));
  EXPECT_EQ(why_not("m=9,k=96", "bulk:cols=128,swizzle=0"), "");
  EXPECT_THAT(why_not("m=9,k=96", "bulk:swizzle=256"),
              HasSubstr("'swizzle' is one of 0, 32, 64, 128 bytes, not 256"));
  EXPECT_THAT(why_not("m=9,k=96,dtype=u8"), HasSubstr("'fill' is 'nan', which u8 does not have"));
  EXPECT_THAT(why_not("m=9,k=96,dtype=e4m3"),
              HasSubstr("'fill' is 'nan', which the hardware has for f16, bf16, f32 and f64, not "
                        "for e4m3"));
}

TEST_F(TensorMaps, StayInsideTheirBuffer) {
  EXPECT_EQ(why_not("m=9,k=96,lda=128,first=32"), "");
  EXPECT_EQ(why_not("m=9,k=96,lda=128,first=40"),
            "tensor map 'map_a': it reaches beyond the 2304 bytes of 'a'");
}

// 2^60 elements of 2 bytes or more: the product does not fit.
TEST_F(TensorMaps, NumbersThatOverflowAreABrokenRule) {
  EXPECT_THAT(why_not("m=9,k=96,first=9e18"), HasSubstr("'map_a'"));
  use(edited("strides = [\"lda\"]", "strides = [\"lda + 9000000000000000000\"]"));
  EXPECT_THAT(why_not("m=9,k=96"), HasSubstr("'map_a'"));
}

TEST(TensorMapSpecs, AreRefusedWithTheirPlace) {
  EXPECT_THAT(spec_error(edited("box = [\"rows\", \"cols\"]", "box = [\"rows\"]")),
              HasSubstr("'box' needs as many expressions as 'shape' (2), not 1"));
  EXPECT_THAT(spec_error(edited("strides = [\"lda\"]", "strides = [\"lda\", 1]")),
              HasSubstr("'strides' needs one expression fewer than 'shape' (1), not 2"));
  EXPECT_THAT(spec_error(edited("element_strides = [\"every\", 1]", "element_strides = [1]")),
              HasSubstr("'element_strides' needs as many expressions as 'shape' (2), not 1"));
  EXPECT_THAT(spec_error(edited("shape = [\"m\", \"k\"]\nstrides", "shape = []\nstrides")),
              HasSubstr("'shape' needs 1 to 5 expressions, not 0"));
  EXPECT_THAT(
      spec_error(edited("shape = [\"m\", \"k\"]\nstrides", "shape = [1, 1, 1, 1, 1, 1]\nstrides")),
      HasSubstr("'shape' needs 1 to 5 expressions, not 6"));
  EXPECT_THAT(spec_error(edited("fill = \"nan\"", "fill = \"one\"")),
              HasSubstr("'fill' is 'zero' or 'nan', not 'one'"));
  EXPECT_THAT(spec_error(edited("swizzle = \"swizzle\"", "swizzel = \"swizzle\"")),
              HasSubstr("unknown key 'swizzel'"));
  EXPECT_THAT(spec_error(edited("of = \"c\"", "of = \"d\"")),
              HasSubstr("'of' of tensor map 'map_c'"));
  EXPECT_THAT(spec_error(edited("of = \"c\"", "of = \"scale\"")),
              HasSubstr("'of' of tensor map 'map_c'"));
  EXPECT_THAT(spec_error(edited("box = [\"rows\", \"cols\"]", "box = [\"rows\", \"colls\"]")),
              HasSubstr("did you mean 'cols'"));
  EXPECT_THAT(spec_error(edited("name = \"map_c\"", "name = \"c\"")), HasSubstr("already taken"));
  EXPECT_THAT(spec_error(edited("name = \"map_c\"", "name = \"map_a\"")),
              HasSubstr("already taken"));
}

TEST(TensorMapSpecs, OfImagesNeedBothCornersAndABoxOfTwo) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string map = kImages;
    return spec_error(with_images(map.replace(map.find(from), from.size(), to)));
  };
  EXPECT_THAT(error("upper = [\"1 - 2\", \"2 - 4\"]\n", ""),
              HasSubstr("'upper' needs one expression for each dimension of 'shape' but the "
                        "outermost and the innermost (2), not 0"));
  EXPECT_THAT(error("lower = [-1, -2]", "lower = [-1]"), HasSubstr("'lower' needs one"));
  EXPECT_THAT(error("box = [\"rows\", \"cols\"]", "box = [1, 1, \"rows\", \"cols\"]"),
              HasSubstr("'box' needs 2 expressions (positions, channels), not 4"));
  EXPECT_THAT(error("shape = [\"m\", 30, 20, 64]", "shape = [\"m\", 64]"),
              HasSubstr("'shape' needs 3 to 5 expressions (images, positions, channels), not 2"));
}

TEST(TensorMapSpecs, ThatNoStepTakesAreRefused) {
  const std::string error = spec_error(edited("\"map_a\", \"map_c\"", "\"map_a\""));
  EXPECT_THAT(error, HasSubstr("spec.toml:"));
  EXPECT_THAT(error, HasSubstr("tensor map 'map_c': no step passes it on"));
}

TEST(TensorMapSpecs, StepsMayNotTakeWhatDoesNotExist) {
  EXPECT_THAT(spec_error(edited("\"map_a\", \"map_c\"", "\"map_a\", \"map_b\", \"map_c\"")),
              HasSubstr("'map_b' is no argument, workspace or tensor map; did you mean"));
}

// A launch of another device or an older one just waits.
TEST_F(TensorMaps, AProgrammaticStepOfADeviceWithoutItIsAPlainOne) {
  std::string text = kSpec;
  text.erase(text.find("[[variants.tensor_maps]]"),
             text.find("[[variants.steps]]") - text.find("[[variants.tensor_maps]]"));
  text.replace(text.find("\"map_a\", \"map_c\""), 16, "\"a\", \"c\"");
  use(text);
  EXPECT_TRUE(plan("m=101,k=96")->steps[0].programmatic);
  device_ = device_for_architecture("cuda", "sm_80");
  EXPECT_FALSE(plan("m=101,k=96")->steps[0].programmatic);
}

}  // namespace
}  // namespace kiln
