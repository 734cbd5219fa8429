// What a call of cuBLAS means, read through the library's getters. The getters here are a stand-in
// with the state of one handle: the real ones need a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "blas/product_call.hpp"

#include <gtest/gtest.h>

namespace kiln::blas {
namespace {

struct Handle {
  int math_mode = cublas::kDefaultMath;
  int pointer_mode = cublas::kHostPointers;
  int multiprocessors = 0;
  void* stream = nullptr;
};

RealLibrary stand_in() {
  RealLibrary real;
  real.get_math_mode = [](void* handle, int* mode) {
    return *mode = static_cast<Handle*>(handle)->math_mode, 0;
  };
  real.get_pointer_mode = [](void* handle, int* mode) {
    return *mode = static_cast<Handle*>(handle)->pointer_mode, 0;
  };
  real.get_sm_count_target = [](void* handle, int* count) {
    return *count = static_cast<Handle*>(handle)->multiprocessors, 0;
  };
  real.get_stream = [](void* handle, void** stream) {
    return *stream = static_cast<Handle*>(handle)->stream, 0;
  };
  return real;
}

class ReadGemm : public ::testing::Test {
 protected:
  ReadGemm() {
    call_.function = "cublasSgemm_v2";
    call_.handle = &handle_;
    call_.m = 30;
    call_.n = 20;
    call_.k = 10;
    call_.lda = 31;
    call_.ldb = 11;
    call_.ldc = 33;
    call_.alpha = &alpha_;
    call_.beta = &beta_;
    call_.a = &a_;
    call_.b = &b_;
    call_.c = &c_;
  }
  [[nodiscard]] std::optional<ProductCall> read() const { return read_gemm(real_, call_); }

  const RealLibrary real_ = stand_in();
  Handle handle_;
  float alpha_ = 1.5F;
  float beta_ = 0;
  char a_ = 0;
  char b_ = 0;
  char c_ = 0;
  GemmArguments call_;
};

TEST_F(ReadGemm, TurnsColumnsIntoRows) {
  int stream = 0;
  handle_.stream = &stream;
  const std::optional<ProductCall> read = this->read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->product.m, 20);
  EXPECT_EQ(read->product.n, 30);
  EXPECT_EQ(read->product.k, 10);
  EXPECT_EQ(read->product.lda, 11);
  EXPECT_EQ(read->product.ldb, 31);
  EXPECT_EQ(read->product.ldc, 33);
  EXPECT_EQ(read->operands.a, &b_);
  EXPECT_EQ(read->operands.b, &a_);
  EXPECT_EQ(read->operands.c, &c_);
  EXPECT_EQ(read->operands.alpha, 1.5);
  EXPECT_TRUE(read->product.beta_zero);
  EXPECT_EQ(read->product.precision, MatrixProduct::Precision::highest);
  EXPECT_EQ(read->stream, &stream);
}

TEST_F(ReadGemm, UsesLessPrecisionOnlyWhereTheProgramAllowedIt) {
  handle_.math_mode = cublas::kTf32Math;
  EXPECT_EQ(read()->product.precision, MatrixProduct::Precision::high);
  call_.compute = cublas::kCompute32F;  // of cublasGemmEx: the mode of the handle counts as well
  EXPECT_EQ(read()->product.precision, MatrixProduct::Precision::high);
  handle_.math_mode = cublas::kDefaultMath;
  EXPECT_EQ(read()->product.precision, MatrixProduct::Precision::highest);
  call_.compute = cublas::kCompute32FFastTf32;
  EXPECT_EQ(read()->product.precision, MatrixProduct::Precision::high);
}

TEST_F(ReadGemm, LeavesWhatItDoesNotUnderstand) {
  const auto is_left = [this](const auto& change) {
    const Handle handle = handle_;
    const GemmArguments call = call_;
    const float alpha = alpha_;
    change();
    const bool was_left = !read();
    handle_ = handle;
    call_ = call;
    alpha_ = alpha;
    return was_left && read();
  };
  EXPECT_TRUE(is_left([this] { handle_.pointer_mode = 1; }));      // scalars on the device
  EXPECT_TRUE(is_left([this] { handle_.math_mode = 2; }));         // pedantic
  EXPECT_TRUE(is_left([this] { handle_.math_mode = 4; }));         // emulated
  EXPECT_TRUE(is_left([this] { handle_.multiprocessors = 16; }));  // a part of the device
  EXPECT_TRUE(is_left([this] { alpha_ = 0; }));                    // A and B are not read
  EXPECT_TRUE(is_left([this] { call_.m = 0; }));
  EXPECT_TRUE(is_left([this] { call_.lda = 29; }));  // an error of the program
  EXPECT_TRUE(is_left([this] { call_.trans_a = 3; }));
  EXPECT_TRUE(is_left([this] { call_.batch = 2, call_.stride_c = -1; }));
  EXPECT_TRUE(is_left([this] { call_.compute = 69; }));               // pedantic
  EXPECT_TRUE(is_left([this] { call_.type_a = cublas::kF16; }));      // A and B differ
  EXPECT_TRUE(is_left([this] { call_.type_a = call_.type_b = 3; }));  // i8
  EXPECT_TRUE(is_left([this] { call_.compute = 64; }));               // sums in f16
}

TEST_F(ReadGemm, KnowsSixteenBitsAndF64) {
  call_.type_a = call_.type_b = cublas::kBf16;
  call_.type_c = cublas::kF32;
  call_.compute = cublas::kCompute32F;
  handle_.math_mode = 16;  // sums are not reduced in 16 bits, as Kiln's never are
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->product.dtype, DType::bf16);
  EXPECT_EQ(read()->product.out, DType::f32);
  const double alpha = 2;
  const double beta = 0.25;
  call_.type_a = call_.type_b = call_.type_c = cublas::kF64;
  call_.alpha = &alpha;
  call_.beta = &beta;
  call_.compute = std::nullopt;
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->operands.beta, 0.25);
  EXPECT_FALSE(read()->product.beta_zero);
}

}  // namespace
}  // namespace kiln::blas
