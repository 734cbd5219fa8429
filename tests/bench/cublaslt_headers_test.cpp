// Our declarations of cublasLt's calls, structures and numbers against NVIDIA's header, where that
// is found at build time.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <gtest/gtest.h>

#include "bench/peers/host/cublaslt_api.hpp"
#include "tests/backends/same_call.hpp"

#ifdef KILN_HAS_CUBLASLT_HEADER
#include <cublasLt.h>
#endif

namespace kiln::peers {
namespace {

#ifdef KILN_HAS_CUBLASLT_HEADER

TEST(CublasLtHeader, AgreesOnTheCalls) {
#define KILN_COMPARE(member, symbol, ...) \
  static_assert(SameCall<decltype(LtApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_CUBLASLT_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
  static_assert(SameCall<decltype(LtApi::version), decltype(&::cublasLtGetVersion)>::value);
  static_assert(SameCall<decltype(LtApi::status_name), decltype(&::cublasLtGetStatusName)>::value);
}

TEST(CublasLtHeader, AgreesOnTheStructures) {
  EXPECT_EQ(sizeof(LtAlgorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(LtHeuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(LtHeuristic, algorithm), offsetof(cublasLtMatmulHeuristicResult_t, algo));
  EXPECT_EQ(offsetof(LtHeuristic, workspace_bytes),
            offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(LtHeuristic, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
  EXPECT_EQ(offsetof(LtHeuristic, waves), offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
}

TEST(CublasLtHeader, AgreesOnTypes) {
  EXPECT_NUMBER(LtType::f32, CUDA_R_32F);
  EXPECT_NUMBER(LtType::f64, CUDA_R_64F);
  EXPECT_NUMBER(LtType::f16, CUDA_R_16F);
  EXPECT_NUMBER(LtType::bf16, CUDA_R_16BF);
  EXPECT_NUMBER(LtType::i8, CUDA_R_8I);
  EXPECT_NUMBER(LtType::i32, CUDA_R_32I);
  EXPECT_NUMBER(LtType::e4m3, CUDA_R_8F_E4M3);
  EXPECT_NUMBER(LtType::e5m2, CUDA_R_8F_E5M2);
  EXPECT_NUMBER(LtCompute::f32, CUBLAS_COMPUTE_32F);
  EXPECT_NUMBER(LtCompute::f64, CUBLAS_COMPUTE_64F);
  EXPECT_NUMBER(LtCompute::i32, CUBLAS_COMPUTE_32I);
  EXPECT_NUMBER(LtCompute::f32_from_bf16, CUBLAS_COMPUTE_32F_FAST_16BF);
  EXPECT_NUMBER(LtCompute::f32_from_tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_NUMBER(LtTranspose::no, CUBLAS_OP_N);
  EXPECT_NUMBER(LtTranspose::yes, CUBLAS_OP_T);
}

TEST(CublasLtHeader, AgreesOnAttributesAndStatus) {
  EXPECT_NUMBER(LtOperationAttribute::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_NUMBER(LtOperationAttribute::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_NUMBER(LtOperationAttribute::fast_sums, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
  EXPECT_NUMBER(LtLayoutAttribute::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_NUMBER(LtLayoutAttribute::batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_NUMBER(LtPreferenceAttribute::workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_NUMBER(LtPreferenceAttribute::alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_NUMBER(LtPreferenceAttribute::alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  EXPECT_NUMBER(LtPreferenceAttribute::alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  EXPECT_NUMBER(LtPreferenceAttribute::alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_NUMBER(LtAlgorithmAttribute::id, CUBLASLT_ALGO_CONFIG_ID);
  EXPECT_NUMBER(LtAlgorithmAttribute::tile, CUBLASLT_ALGO_CONFIG_TILE_ID);
  EXPECT_NUMBER(LtAlgorithmAttribute::splits, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  EXPECT_NUMBER(LtAlgorithmAttribute::stages, CUBLASLT_ALGO_CONFIG_STAGES_ID);
  EXPECT_NUMBER(LtAlgorithmAttribute::cluster, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
  EXPECT_NUMBER(LtStatus::success, CUBLAS_STATUS_SUCCESS);
  EXPECT_NUMBER(LtStatus::not_initialized, CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_NUMBER(LtStatus::not_supported, CUBLAS_STATUS_NOT_SUPPORTED);
}

#else
TEST(CublasLtHeader, IsNotHere) { GTEST_SKIP() << "no cublasLt.h was found when this was built"; }
#endif

}  // namespace
}  // namespace kiln::peers
