// What transpose, matmul and convolution compute (their CPU loops), what they refuse and what
// shares a source.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "tests/templates/built_in_kernels.hpp"

namespace kiln::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// ---- transpose: what it computes

TEST(TransposeReference, TurnsEachMatrixOfTheBatch) {
  EXPECT_THAT(
      compute("transpose", "rows=2,cols=3,batch=2",
              {{"in", array_of(DType::f32, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
               {"out", HostArray(DType::f64, {2, 3, 2})}},
              "out"),
      ElementsAre(1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12));
}

TEST(TransposeReference, KeepsBytesWhole) {
  EXPECT_THAT(compute("transpose", "rows=1,cols=3,dtype=u8",
                      {{"in", array_of(DType::u8, {1, 1, 3}, {0, 128, 255})},
                       {"out", HostArray(DType::i64, {1, 3, 1})}},
                      "out"),
              ElementsAre(0, 128, 255));
}

// ---- matmul: what it computes

// [1 2 3; 4 5 6] * [1 0; 0 1; 2 3] = [7 11; 16 23]
const std::vector<double> kLeft = {1, 2, 3, 4, 5, 6};
const std::vector<double> kRight = {1, 0, 0, 1, 2, 3};

TEST(MatmulReference, ScalesAndLeavesOldValuesOutWhereBetaIsZero) {
  EXPECT_THAT(compute("matmul", "m=2,n=2,k=3",
                      {{"a", array_of(DType::f32, {2, 3}, kLeft)},
                       {"b", array_of(DType::f32, {3, 2}, kRight)},
                       {"c", array_of(DType::f64, {2, 2}, {100, 100, 100, 100})}},
                      "c", {{"alpha", 2}, {"beta", 3}}),
              ElementsAre(14, 22, 32, 46));
}

TEST(MatmulReference, AddsOldValuesAndLeavesTheGapBetweenRowsAlone) {
  EXPECT_THAT(compute("matmul", "m=2,n=2,k=3,ldc=3,beta_zero=false",
                      {{"a", array_of(DType::f32, {2, 3}, kLeft)},
                       {"b", array_of(DType::f32, {3, 2}, kRight)},
                       {"c", array_of(DType::f64, {2, 3}, {1, 2, 77, 3, 4, 78})}},
                      "c", {{"alpha", 2}, {"beta", 3}}),
              ElementsAre(17, 28, 77, 41, 58, 78));
}

TEST(MatmulReference, ReadsStoredTransposesWithTheirOwnRows) {
  // A as k x m with lda = 4, B as n x k: the same product.
  EXPECT_THAT(compute("matmul", "m=2,n=2,k=3,trans_a=true,trans_b=true,lda=4",
                      {{"a", array_of(DType::f16, {3, 4}, {1, 4, 9, 9, 2, 5, 9, 9, 3, 6, 9, 9})},
                       {"b", array_of(DType::f16, {2, 3}, {1, 0, 2, 0, 1, 3})},
                       {"c", HostArray(DType::f64, {2, 2})}},
                      "c", {{"alpha", 1}, {"beta", 0}}),
              ElementsAre(7, 11, 16, 23));
}

TEST(MatmulProblem, RowsMustNotOverlap) {
  const KernelSpec spec = KernelLibrary().load("matmul");
  const Problem problem = Problem::parse(spec, "m=4,n=5,k=6,trans_a=true");
  EXPECT_EQ(problem.integer("lda"), 4);
  EXPECT_EQ(problem.integer("ldb"), 5);
  EXPECT_THAT(refusal_of("matmul", "m=4,n=5,k=6,ldc=4"),
              HasSubstr("the rows of C must not overlap"));
}

// Bulk copies write whole multiples of 16 bytes: they would reach into what lies between n and ldc.
TEST(MatmulOnMatrixUnits, StoresByBulkCopyOnlyWhereRowsEndAtMultiplesOf16Bytes) {
  const auto objection = [](const std::string& problem) {
    return objection_to("matmul", problem + ",m=64,k=64,dtype=bf16",
                        "wgmma:tile_n=64,store=tensor");
  };
  EXPECT_EQ(objection("n=24"), "legal");
  EXPECT_EQ(objection("n=24,ldc=32"), "legal");
  EXPECT_THAT(objection("n=20,ldc=24"), HasSubstr("whole multiples of 16 bytes"));
  EXPECT_NE(objection("n=20"), "legal");
}

// A warpgroup that asks for registers which no other gives back would wait for ever.
TEST(MatmulOnMatrixUnits, ShareOutNoMoreRegistersThanTheBlockHas) {
  EXPECT_THAT(objection_to("matmul", "m=777,n=777,k=777,dtype=bf16",
                           "wgmma:tile_m=192,tile_n=64,consumers=3,stages=3,blocks_per_unit=2"),
              HasSubstr("they would wait for ever"));
}

// ---- convolution: what it computes

TEST(ConvolutionReference, DoesNotFlipTheFilterAndSeesZerosOutside) {
  EXPECT_THAT(
      compute("convolution", "h=2,w=3,fh=3",
              {{"in", array_of(DType::f32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})},
               {"filter", array_of(DType::f32, {1, 1, 3, 3}, {0, 0, 0, 0, 1, 10, 0, 100, 0})},
               {"out", HostArray(DType::f64, {1, 1, 2, 3})}},
              "out"),
      ElementsAre(1 + 20 + 400, 2 + 30 + 500, 3 + 600, 4 + 50, 5 + 60, 6));
}

TEST(ConvolutionReference, GroupsSeeTheirOwnChannels) {
  // Two groups of one channel, two outputs each, a 1 x 1 filter, every second pixel.
  EXPECT_THAT(compute("convolution", "h=1,w=3,fh=1,c=2,k=4,groups=2,stride=2",
                      {{"in", array_of(DType::f32, {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})},
                       {"filter", array_of(DType::f32, {4, 1, 1, 1}, {1, 10, 100, 1000})},
                       {"out", HostArray(DType::f64, {1, 4, 1, 2})}},
                      "out"),
              ElementsAre(1, 3, 10, 30, 400, 600, 4000, 6000));
}

TEST(ConvolutionReference, ChannelsMayLieInnermost) {
  // Two pixels of two channels, two outputs: out[x][k] = sum over c of in[x][c] * filter[k][c].
  EXPECT_THAT(compute("convolution", "h=1,w=2,fh=1,c=2,k=2,layout=nhwc",
                      {{"in", array_of(DType::f32, {1, 1, 2, 2}, {1, 2, 3, 4})},
                       {"filter", array_of(DType::f32, {2, 1, 1, 2}, {1, 10, 100, 1000})},
                       {"out", HostArray(DType::f64, {1, 1, 2, 2})}},
                      "out"),
              ElementsAre(21, 2100, 43, 4300));
}

TEST(ConvolutionReference, DilatedTapsLieApartAndPaddingMayDiffer) {
  // Taps two columns apart; one zero on the left, two on the right.
  EXPECT_THAT(compute("convolution", "h=1,w=4,fh=1,fw=2,dilation=2,pad_w=1,pad_right=2",
                      {{"in", array_of(DType::f32, {1, 1, 1, 4}, {1, 2, 3, 4})},
                       {"filter", array_of(DType::f32, {1, 1, 1, 2}, {1, 10})},
                       {"out", HostArray(DType::f64, {1, 1, 1, 5})}},
                      "out"),
              ElementsAre(20, 31, 42, 3, 4));
}

TEST(ConvolutionProblem, TheDefaultsAreAnImageFilterOfTheSameSize) {
  const KernelSpec spec = KernelLibrary().load("convolution");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec, "h=100,w=50,fh=15,fw=7");
  const Config config = Setting(spec, problem, device).default_config();
  EXPECT_EQ(config.variant, "image");
  const Result<LaunchPlan> plan = Setting(spec, problem, device).plan(config);
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_THAT(plan->find_buffer("out")->shape, ElementsAre(1, 1, 100, 50));
}

TEST(ConvolutionProblem, ChannelsMustFillTheGroups) {
  EXPECT_THAT(refusal_of("convolution", "h=8,w=8,fh=3,c=6,k=6,groups=4"),
              HasSubstr("every group has the same number of channels"));
}

// ---- what the renders share, and what they must differ in

TEST(TransposeSource, IsSharedByElementTypesOfOneSizeAndByAllMatrixSizes) {
  const Rendered render("transpose");
  for (const char* variant : {"tile", "vector", "naive"}) {
    const std::string f32 = render("rows=100,cols=100,dtype=f32", variant);
    EXPECT_EQ(f32, render("rows=7,cols=4096,batch=9,dtype=i32", variant)) << variant;
    EXPECT_NE(f32, render("rows=100,cols=100,dtype=f64", variant)) << variant;
  }
}

TEST(TransposeSource, NeedsWholeElementsInAVector) {
  EXPECT_THAT(objection_to("transpose", "rows=8,cols=8,dtype=f64", "vector:vector_bytes=4"),
              HasSubstr("a vector holds at least one element"));
}

TEST(MatmulSource, IsSharedByAllSizesAndReadsCOnlyWhereBetaMayBeNonzero) {
  const Rendered render("matmul");
  const std::string source = render("m=512,n=512,k=512", "register");
  EXPECT_EQ(source, render("m=513,n=4,k=70000,ldc=100", "register"));
  const std::string read = "BITS_TO_F32(LOAD_4_IF(i < inside, c + i))";
  EXPECT_THAT(source, Not(HasSubstr(read)));
  EXPECT_THAT(source, HasSubstr("return alpha * x;"));
  const std::string added = render("m=512,n=512,k=512,beta_zero=false", "register");
  EXPECT_THAT(added, HasSubstr(read));
  EXPECT_THAT(added, HasSubstr("return (((alpha) * (x)) + ((beta) * (c)));"));
}

TEST(MatmulSource, AddsHalvesInF32AndCombinesPartsInASecondKernel) {
  const Rendered render("matmul");
  const std::string source = render("m=64,n=64,k=4096,dtype=f16", "split_k:splits=8");
  EXPECT_THAT(source, HasSubstr("typedef f32 real_t;"));
  EXPECT_THAT(source, HasSubstr("SPLITS = 8,"));
  EXPECT_THAT(source, HasSubstr("*to = F32_TO_F16(finish(sum, 0, 0, epilogue));"));
}

TEST(MatmulSource, HasTheFormulaOfItsProblemAndItsBias) {
  const Rendered render("matmul");
  const std::string problem = "m=64,n=64,k=64,epilogue='max(x + bias, 0)'";
  for (const char* config : {"naive", "tiled", "register", "split_k:splits=8", "f32_split"}) {
    const std::string source = render(problem, config);
    EXPECT_THAT(source, HasSubstr("fmax((x) + (bias), 0.0")) << config;
    EXPECT_THAT(source, HasSubstr("RESTRICT bias,  // [n]")) << config;
    EXPECT_THAT(render(problem + ",bias_along=m", config), HasSubstr("RESTRICT bias,  // [m]"));
    EXPECT_THAT(render("m=64,n=64,k=64", config), Not(HasSubstr("RESTRICT bias"))) << config;
  }
}

TEST(ConvolutionSource, TakesTapsFromConstantMemoryOrFromAParameter) {
  const Rendered render("convolution");
  const std::string constant = render("h=64,w=64,fh=5", "image:filter_in=constant");
  EXPECT_THAT(constant, HasSubstr("CONSTANT_ARRAY(f32, filter, TAPS)"));
  EXPECT_THAT(constant, Not(HasSubstr("GLOBAL const f32* RESTRICT filter")));
  const std::string shared = render("h=64,w=64,fh=5", "image:filter_in=shared");
  EXPECT_THAT(shared, HasSubstr("GLOBAL const f32* RESTRICT filter"));
  EXPECT_EQ(shared, render("h=4096,w=100,fh=5,n=3", "image:filter_in=shared"));
}

TEST(ConvolutionSource, IsNotWrittenOutForLargeFilters) {
  EXPECT_THAT(objection_to("convolution", "h=64,w=64,fh=15", "image:unrolled=filter"),
              HasSubstr("longer code does not fit the instruction cache"));
}

}  // namespace
}  // namespace kiln::test
