// Our declarations of cuBLAS against NVIDIA's headers, where those are found at build time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cublas/cublas_api.hpp"
#include "tests/backends/same_call.hpp"

#if __has_include(<cublasLt.h>) && __has_include(<cublas_v2.h>)
#define KILN_HAS_CUBLAS_HEADERS
#include <cublasLt.h>
#include <cublas_v2.h>
#endif

namespace kiln {
namespace {

#ifdef KILN_HAS_CUBLAS_HEADERS

template <class Ours, class Theirs>
constexpr bool kSame = SameCall<Ours*, Theirs*>::value;

TEST(CublasHeaders, AgreeOnTheCalls) {
  using namespace cublas;  // NOLINT(google-build-using-namespace)
  using Gemm32 = Gemm<float, int>;
  using Gemm64 = Gemm<double, int>;
  using Gemm32Long = Gemm<float, std::int64_t>;
  using Strided32 = GemmStrided<float, int>;
  using Strided32Long = GemmStrided<float, std::int64_t>;
  static_assert(kSame<Gemm32, decltype(cublasSgemm_v2)>);
  static_assert(kSame<Gemm64, decltype(cublasDgemm_v2)>);
  static_assert(kSame<Gemm32Long, decltype(cublasSgemm_v2_64)>);
  static_assert(kSame<Strided32, decltype(cublasSgemmStridedBatched)>);
  static_assert(kSame<Strided32Long, decltype(cublasSgemmStridedBatched_64)>);
  static_assert(kSame<GemmEx<std::int64_t>, decltype(cublasGemmEx_64)>);
  static_assert(kSame<GemmStridedEx<std::int64_t>, decltype(cublasGemmStridedBatchedEx_64)>);
  static_assert(kSame<LtMatmul, decltype(cublasLtMatmul)>);
  static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
  static_assert(sizeof(LtHeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
}

TEST(CublasHeaders, AgreeOnTheNumbers) {
  using namespace cublas;  // NOLINT(google-build-using-namespace)
  EXPECT_NUMBER(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_NUMBER(kTranspose, CUBLAS_OP_T);
  EXPECT_NUMBER(kConjugate, CUBLAS_OP_C);
  EXPECT_NUMBER(kHostPointers, CUBLAS_POINTER_MODE_HOST);
  EXPECT_NUMBER(kTf32Math, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_NUMBER(kTensorOpMath, 1);
  EXPECT_NUMBER(kF32, CUDA_R_32F);
  EXPECT_NUMBER(kF64, CUDA_R_64F);
  EXPECT_NUMBER(kF16, CUDA_R_16F);
  EXPECT_NUMBER(kBf16, CUDA_R_16BF);
  EXPECT_NUMBER(kCompute32F, CUBLAS_COMPUTE_32F);
  EXPECT_NUMBER(kCompute32FFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_NUMBER(kCompute64F, CUBLAS_COMPUTE_64F);
  EXPECT_NUMBER(kGemmDefault, CUBLAS_GEMM_DEFAULT);
  EXPECT_NUMBER(Layout::type, CUBLASLT_MATRIX_LAYOUT_TYPE);
  EXPECT_NUMBER(Layout::order, CUBLASLT_MATRIX_LAYOUT_ORDER);
  EXPECT_NUMBER(Layout::leading, CUBLASLT_MATRIX_LAYOUT_LD);
  EXPECT_NUMBER(Layout::stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_NUMBER(kColumnOrder, CUBLASLT_ORDER_COL);
  EXPECT_NUMBER(Matmul::compute_type, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
  EXPECT_NUMBER(Matmul::trans_b, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_NUMBER(Matmul::trans_c, CUBLASLT_MATMUL_DESC_TRANSC);
  EXPECT_NUMBER(Matmul::fill_mode, CUBLASLT_MATMUL_DESC_FILL_MODE);
  EXPECT_NUMBER(Matmul::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_NUMBER(Matmul::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_NUMBER(Matmul::bias_stride, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
  EXPECT_NUMBER(Matmul::sm_count_target, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
  EXPECT_NUMBER(Matmul::a_scale, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
  EXPECT_NUMBER(Matmul::d_scale, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
  EXPECT_NUMBER(Matmul::amax_d, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
  EXPECT_NUMBER(Matmul::bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  EXPECT_NUMBER(kFullFill, CUBLAS_FILL_MODE_FULL);
  EXPECT_NUMBER(kEpilogueReluBias, CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_NUMBER(kEpilogueGeluBias, CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_NUMBER(kMaxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
}

#else

TEST(CublasHeaders, AgreeOnTheCalls) { GTEST_SKIP() << "cublasLt.h was not found at build time"; }

#endif

}  // namespace
}  // namespace kiln
