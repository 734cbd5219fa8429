// Problems of `matmul` in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/matmul_shape.hpp"

#include <gtest/gtest.h>

#include "core/spec.hpp"
#include "templates/library.hpp"

namespace kiln::peers {
namespace {

MatmulShape shape_of(const std::string& problem, const MatmulValues& values = {}) {
  const KernelSpec spec = KernelLibrary().load("matmul");
  return matmul_shape(spec, Problem::parse(spec, problem), values);
}

TEST(MatmulShape, TakesTheDefaultsOfFieldsThatAreNotGiven) {
  const MatmulShape shape = shape_of("m=4 n=6 k=8");
  EXPECT_EQ(shape.m, 4);
  EXPECT_EQ(shape.n, 6);
  EXPECT_EQ(shape.k, 8);
  EXPECT_EQ(shape.batch, 1);
  EXPECT_EQ(shape.precision, "highest");
  EXPECT_FALSE(shape.has_formula);
  EXPECT_EQ(layout_text(shape), "NN");
  EXPECT_EQ(shape.operations(), 2 * 4 * 6 * 8);
}

TEST(MatmulShape, StoresTransposedOperandsTheOtherWayRound) {
  const MatmulShape shape = shape_of("m=4 n=6 k=8 trans_a=true trans_b=true lda=16 ldb=32 ldc=64");
  EXPECT_EQ(layout_text(shape), "TT");
  EXPECT_EQ(shape.a.rows, 8);
  EXPECT_EQ(shape.a.columns, 4);
  EXPECT_EQ(shape.a.stride, 16);
  EXPECT_EQ(shape.b.rows, 6);
  EXPECT_EQ(shape.b.columns, 8);
  EXPECT_EQ(shape.b.stride, 32);
  EXPECT_EQ(shape.c.rows, 4);
  EXPECT_EQ(shape.c.columns, 6);
  EXPECT_EQ(shape.c.stride, 64);
  EXPECT_EQ(shape.c.batch_stride, 4 * 64);
}

TEST(MatmulShape, TakesTypesAndScalarsFromTheArguments) {
  const MatmulShape shape = shape_of("m=4 n=6 k=8", {DType::bf16, DType::bf16, DType::f32, 2, 3});
  EXPECT_EQ(shape.a.dtype, DType::bf16);
  EXPECT_EQ(shape.c.dtype, DType::f32);
  EXPECT_EQ(shape.alpha, 2);
  EXPECT_EQ(shape.beta, 3);
}

TEST(MatmulShape, ReadsBatchAndItsStrides) {
  const MatmulShape plain = shape_of("m=4 n=6 k=8 batch=5");
  EXPECT_EQ(plain.batch, 5);
  EXPECT_EQ(plain.a.batch_stride, 4 * 8);
  EXPECT_EQ(plain.b.batch_stride, 8 * 6);
  EXPECT_EQ(plain.c.batch_stride, 4 * 6);
  EXPECT_EQ(shape_of("m=4 n=6 k=8 batch=5 stride_b=0").b.batch_stride, 0);  // one B for all
}

TEST(MatmulShape, ReadsThePrecision) {
  EXPECT_EQ(shape_of("m=4 n=6 k=8 precision=high").precision, "high");
}

TEST(MatmulShape, TellsAFormulaFromTheDefaultEpilogue) {
  EXPECT_TRUE(shape_of("m=4 n=6 k=8 epilogue='max(x + bias, 0)' bias_along=m").has_formula);
  EXPECT_FALSE(shape_of("m=4 n=6 k=8 epilogue='alpha * x + beta * c' beta_zero=false").has_formula);
}

}  // namespace
}  // namespace kiln::peers
