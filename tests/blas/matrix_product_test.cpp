// A column-major call and the row-major product of it compute the same, element by element.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cublas/matrix_product.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "templates/library.hpp"

namespace kiln {
namespace {

using Matrix = std::vector<std::int64_t>;

/// op(A) op(B) of one batch, by the rules of cuBLAS: element (i, j) of a matrix is at i + j * ld.
void column_major(const MatrixProduct& call, const Matrix& a, const Matrix& b, Matrix& c) {
  for (std::int64_t z = 0; z < call.batch; ++z) {
    for (std::int64_t i = 0; i < call.m; ++i) {
      for (std::int64_t j = 0; j < call.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < call.k; ++l) {
          const std::int64_t at_a = call.trans_a ? l + i * call.lda : i + l * call.lda;
          const std::int64_t at_b = call.trans_b ? j + l * call.ldb : l + j * call.ldb;
          sum += a[static_cast<std::size_t>(z * call.stride_a + at_a)] *
                 b[static_cast<std::size_t>(z * call.stride_b + at_b)];
        }
        c[static_cast<std::size_t>(z * call.stride_c + i + j * call.ldc)] = sum;
      }
    }
  }
}

/// The same by the rules of `matmul`: element (i, j) is at i * ld + j.
void row_major(const MatrixProduct& product, const Matrix& a, const Matrix& b, Matrix& c) {
  for (std::int64_t z = 0; z < product.batch; ++z) {
    for (std::int64_t i = 0; i < product.m; ++i) {
      for (std::int64_t j = 0; j < product.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < product.k; ++l) {
          const std::int64_t at_a = product.trans_a ? l * product.lda + i : i * product.lda + l;
          const std::int64_t at_b = product.trans_b ? j * product.ldb + l : l * product.ldb + j;
          sum += a[static_cast<std::size_t>(z * product.stride_a + at_a)] *
                 b[static_cast<std::size_t>(z * product.stride_b + at_b)];
        }
        c[static_cast<std::size_t>(z * product.stride_c + i * product.ldc + j)] = sum;
      }
    }
  }
}

MatrixProduct column_call(bool trans_a, bool trans_b, std::int64_t batch) {
  MatrixProduct call;
  call.m = 5;
  call.n = 7;
  call.k = 4;
  call.trans_a = trans_a;
  call.trans_b = trans_b;
  call.lda = (trans_a ? call.k : call.m) + 2;
  call.ldb = (trans_b ? call.n : call.k) + 3;
  call.ldc = call.m + 1;
  call.batch = batch;
  call.stride_a = 60;
  call.stride_b = 80;
  call.stride_c = 50;
  call.beta_zero = true;
  return call;
}

TEST(MatrixProduct, OfAColumnMajorCallIsTheSameRowMajor) {
  std::mt19937 random(7);
  Matrix a(300);
  Matrix b(300);
  for (Matrix* matrix : {&a, &b}) {
    for (std::int64_t& value : *matrix) value = static_cast<std::int64_t>(random() % 19) - 9;
  }
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const std::int64_t batch : {1, 3}) {
        const MatrixProduct call = column_call(trans_a, trans_b, batch);
        const MatrixProduct product = transposed(call);
        Matrix expected(200, -1);
        Matrix found(200, -1);
        column_major(call, a, b, expected);
        row_major(product, b, a, found);  // the operands change places
        EXPECT_EQ(found, expected) << trans_a << trans_b << batch;
        EXPECT_EQ(transposed(product), call);
      }
    }
  }
}

TEST(MatrixProduct, SurvivesTheWayThroughAProblem) {
  using Epilogue = MatrixProduct::Epilogue;
  const KernelSpec matmul = KernelLibrary().load("matmul");
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::bias, Epilogue::relu,
                                  Epilogue::relu_bias, Epilogue::gelu, Epilogue::gelu_bias}) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (const std::int64_t batch : {1, 3}) {
        MatrixProduct product = transposed(column_call(true, false, batch));
        product.dtype = product.out = dtype;
        product.epilogue = epilogue;
        normalise(product);
        const Problem problem = Problem::parse(matmul, problem_text(product));
        EXPECT_EQ(product_of(problem), product) << problem.text();
      }
    }
  }
  MatrixProduct fast = transposed(column_call(false, false, 1));
  fast.precision = MatrixProduct::Precision::high;
  fast.beta_zero = false;
  normalise(fast);
  EXPECT_EQ(product_of(Problem::parse(matmul, problem_text(fast))), fast);
}

TEST(MatrixProduct, OfWhatCublasDoesNotComputeIsNone) {
  const KernelSpec matmul = KernelLibrary().load("matmul");
  for (const char* text :
       {"m=8 n=8 k=8 dtype=e4m3", "m=8 n=8 k=8 precision=medium", "m=8 n=8 k=8 epilogue='x + c'",
        "m=8 n=8 k=8 bias_along=m epilogue='alpha * x + bias'"}) {
    EXPECT_FALSE(product_of(Problem::parse(matmul, text))) << text;
  }
}

TEST(MatrixProduct, EqualSingleProductsAreEqualWhateverTheirStrides) {
  MatrixProduct one = transposed(column_call(false, true, 1));
  MatrixProduct other = one;
  other.stride_a = other.stride_b = other.stride_c = 0;
  normalise(one);
  normalise(other);
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.hash(), other.hash());
  other.lda += 1;
  EXPECT_NE(one.hash(), other.hash());
}

}  // namespace
}  // namespace kiln
