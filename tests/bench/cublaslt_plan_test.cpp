// How row-major problems become column-major products of cublasLt.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cublaslt_plan.hpp"

#include <gtest/gtest.h>

#include "core/spec.hpp"
#include "templates/library.hpp"

namespace kiln::peers {
namespace {

MatmulShape lt_shape_of(const std::string& problem, DType in = DType::f32, DType out = DType::f32) {
  const KernelSpec spec = KernelLibrary().load("matmul");
  return matmul_shape(spec, Problem::parse(spec, problem), {in, in, out, 1, 0});
}

LtPlan plan_of(const MatmulShape& shape) {
  std::string reason;
  const std::optional<LtPlan> plan = lt_plan(shape, reason);
  EXPECT_TRUE(plan) << reason;
  return plan.value_or(LtPlan{});
}

// Multiplies the way cublasLt reads its operands, so that the plan is held against the plain loop.
struct Layout {
  const LtMatrix& matrix;
  LtTranspose transpose;
  [[nodiscard]] std::size_t at(std::int64_t row, std::int64_t column) const {
    if (transpose == LtTranspose::yes) std::swap(row, column);
    return static_cast<std::size_t>(row + column * matrix.stride);
  }
};

std::vector<double> numbered(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 37 + 11) % 17));
  return values;
}

class LtPlanLayouts : public testing::TestWithParam<const char*> {};

TEST_P(LtPlanLayouts, ComputeTheSameProduct) {
  const MatmulShape shape = lt_shape_of(std::string("m=3 n=5 k=7 ") + GetParam());
  const LtPlan plan = plan_of(shape);
  const std::vector<double> a = numbered(shape.a.rows * shape.a.stride);
  const std::vector<double> b = numbered(shape.b.rows * shape.b.stride);
  const Layout first = {plan.first, plan.transpose_first};
  const Layout second = {plan.second, plan.transpose_second};
  ASSERT_EQ(plan.result.rows, 5U);
  ASSERT_EQ(plan.result.columns, 3U);
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      double ours = 0;
      double theirs = 0;
      for (std::int64_t p = 0; p < shape.k; ++p) {
        const std::int64_t at_a = shape.trans_a ? p * shape.a.stride + i : i * shape.a.stride + p;
        const std::int64_t at_b = shape.trans_b ? j * shape.b.stride + p : p * shape.b.stride + j;
        ours += a[static_cast<std::size_t>(at_a)] * b[static_cast<std::size_t>(at_b)];
        theirs += b[first.at(j, p)] * a[second.at(p, i)];  // C' is n x m
      }
      EXPECT_EQ(ours, theirs) << i << ", " << j;
      EXPECT_EQ(i * shape.c.stride + j, j + i * plan.result.stride);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LtPlanLayouts,
                         testing::Values("trans_a=false", "trans_b=true", "trans_a=true",
                                         "trans_a=true trans_b=true", "lda=11 ldb=13 ldc=17",
                                         "trans_b=true ldb=9",
                                         "trans_a=true trans_b=true lda=8 ldb=16 ldc=9"));

TEST(LtPlan, KnowsTheStoredSides) {
  const LtPlan plan = plan_of(lt_shape_of("m=3 n=5 k=7 trans_b=true ldb=8"));
  EXPECT_EQ(plan.first.rows, 7U);
  EXPECT_EQ(plan.first.columns, 5U);
  EXPECT_EQ(plan.first.stride, 8);
  EXPECT_EQ(plan.transpose_first, LtTranspose::yes);
  EXPECT_EQ(plan.second.rows, 7U);
  EXPECT_EQ(plan.second.columns, 3U);
  EXPECT_EQ(plan.transpose_second, LtTranspose::no);
}

TEST(LtPlan, ChoosesTheArithmeticByTypeAndPrecision) {
  MatmulShape shape = lt_shape_of("m=3 n=5 k=7");
  EXPECT_EQ(plan_of(shape).compute, LtCompute::f32);
  shape.precision = "high";
  EXPECT_EQ(plan_of(shape).compute, LtCompute::f32_from_tf32);
  shape.precision = "medium";
  EXPECT_EQ(plan_of(shape).compute, LtCompute::f32_from_bf16);

  const LtPlan f64 = plan_of(lt_shape_of("m=3 n=5 k=7", DType::f64, DType::f64));
  EXPECT_EQ(f64.compute, LtCompute::f64);
  EXPECT_EQ(f64.scalar_type, LtType::f64);
  for (const DType half : {DType::f16, DType::bf16}) {
    const LtPlan plan = plan_of(lt_shape_of("m=3 n=5 k=7", half, half));
    EXPECT_EQ(plan.compute, LtCompute::f32);
    EXPECT_EQ(plan.scalar_type, LtType::f32);
    EXPECT_FALSE(plan.has_fast_sums);
  }
}

TEST(LtPlan, IgnoresThePrecisionOfOtherTypesThanF32) {
  MatmulShape shape = lt_shape_of("m=3 n=5 k=7", DType::bf16, DType::bf16);
  shape.precision = "high";
  EXPECT_EQ(plan_of(shape).compute, LtCompute::f32);
}

TEST(LtPlan, KnowsEightBitTypesByName) {
  const std::optional<DType> e4m3 = parse_dtype("e4m3");
  const std::optional<DType> i8 = parse_dtype("i8");
  if (!e4m3 || !i8) GTEST_SKIP() << "Kiln has no 8-bit types yet";
  const LtPlan floats = plan_of(lt_shape_of("m=3 n=5 k=7", *e4m3, DType::bf16));
  EXPECT_EQ(floats.first.type, LtType::e4m3);
  EXPECT_EQ(floats.result.type, LtType::bf16);
  EXPECT_EQ(floats.compute, LtCompute::f32);
  EXPECT_TRUE(floats.has_fast_sums);
  const LtPlan whole = plan_of(lt_shape_of("m=3 n=5 k=7", *i8, DType::i32));
  EXPECT_EQ(whole.compute, LtCompute::i32);
  EXPECT_EQ(whole.scalar_type, LtType::i32);
  EXPECT_FALSE(whole.has_fast_sums);
}

TEST(LtPlan, SaysWhatItDoesNotHave) {
  std::string reason;
  EXPECT_FALSE(lt_plan(lt_shape_of("m=3 n=5 k=7", DType::u32, DType::u32), reason));
  EXPECT_EQ(reason, "has no products of u32 and u32 to u32");
  MatmulShape shape = lt_shape_of("m=3 n=5 k=7");
  shape.precision = "lowest";
  EXPECT_FALSE(lt_plan(shape, reason));
  EXPECT_EQ(reason, "has no precision 'lowest'");
}

TEST(LtPlan, HandsBatchesOn) {
  MatmulShape shape = lt_shape_of("m=3 n=5 k=7");
  shape.batch = 4;
  shape.b.batch_stride = 0;
  const LtPlan plan = plan_of(shape);
  EXPECT_EQ(plan.batch, 4);
  EXPECT_EQ(plan.first.batch_stride, 0);
  EXPECT_EQ(plan.second.batch_stride, 3 * 7);
}

TEST(Alignment, IsThatOfThePointer) {
  LtMatrix matrix;
  matrix.element_bytes = 2;
  matrix.batch_stride = 777;
  const auto at = [&](std::uintptr_t address, int batch) {
    return alignment_of(matrix, batch, reinterpret_cast<const void*>(address));
  };
  EXPECT_EQ(at(0x10000, 1), 256U);
  EXPECT_EQ(at(0x10010, 1), 16U);
  EXPECT_EQ(at(0x10002, 1), 2U);
  EXPECT_EQ(at(0x10000, 3), 2U);  // the second matrix begins 1554 bytes later
  matrix.batch_stride = 1024;
  EXPECT_EQ(at(0x10000, 3), 256U);
}

}  // namespace
}  // namespace kiln::peers
