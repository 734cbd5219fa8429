// Problems of `matmul` in plain numbers, with and without the fields that only newer specs have.
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

struct NewField {
  std::string name;
  FieldType type = FieldType::integer;
  std::string fallback;  // an expression
  Value given;
};

/// Of a problem whose spec has these fields, whether that of `matmul` has them by now or not.
MatmulShape shape_with(const std::vector<NewField>& news) {
  KernelSpec spec = KernelLibrary().load("matmul");
  std::vector<std::pair<std::string, Value>> given = {
      {"m", std::int64_t{4}}, {"n", std::int64_t{6}}, {"k", std::int64_t{8}}};
  for (const NewField& made : news) {
    std::erase_if(spec.problem, [&](const auto& field) { return field.name == made.name; });
    ProblemField field;
    field.name = made.name;
    field.type = made.type;
    field.fallback = Expression::parse(made.fallback);
    spec.problem.push_back(field);
    given.emplace_back(made.name, made.given);
  }
  return matmul_shape(spec, Problem::make(spec, given), {});
}

TEST(MatmulShape, TakesDefaultsForFieldsThatTheSpecDoesNotHave) {
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
  const NewField batch = {"batch", FieldType::integer, "1", std::int64_t{5}};
  const MatmulShape plain = shape_with({batch});
  EXPECT_EQ(plain.batch, 5);
  EXPECT_EQ(plain.a.batch_stride, 4 * 8);
  EXPECT_EQ(plain.b.batch_stride, 8 * 6);
  const MatmulShape shared =
      shape_with({batch, {"stride_b", FieldType::integer, "k * n", std::int64_t{0}}});
  EXPECT_EQ(shared.b.batch_stride, 0);  // one B for all
}

TEST(MatmulShape, ReadsThePrecision) {
  const MatmulShape shape =
      shape_with({{"precision", FieldType::text, "'highest'", std::string("high")}});
  EXPECT_EQ(shape.precision, "high");
}

TEST(MatmulShape, TellsAFormulaFromTheDefaultEpilogue) {
  EXPECT_TRUE(shape_of("m=4 n=6 k=8 epilogue='max(x + bias, 0)' bias_along=m").has_formula);
  EXPECT_FALSE(shape_of("m=4 n=6 k=8 epilogue='alpha * x + beta * c' beta_zero=false").has_formula);
}

}  // namespace
}  // namespace kiln::peers
