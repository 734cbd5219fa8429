// The part of cuBLAS 12 and 13 that Kiln meets, declared here and bound at run time, so that no
// header of CUDA is needed to build. tests/backends/cublas_headers_test.cpp compares it with
// cublas_v2.h and cublasLt.h where they are found.
//
// Enumerations travel as int: that is what the C interface passes. Numbers of columns and bytes are
// the library's own: matrices are column-major here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::cublas {

inline constexpr int kSuccess = 0;         ///< CUBLAS_STATUS_SUCCESS
inline constexpr int kNotInitialized = 1;  ///< CUBLAS_STATUS_NOT_INITIALIZED

/// cublasOperation_t. Of real numbers, `conjugate` is `transpose`.
inline constexpr int kNone = 0;
inline constexpr int kTranspose = 1;
inline constexpr int kConjugate = 2;

/// cublasPointerMode_t.
inline constexpr int kHostPointers = 0;

/// cublasMath_t: the low four bits are the mode, the next one forbids sums of less precision.
inline constexpr int kMathModeMask = 15;
inline constexpr int kDefaultMath = 0;
inline constexpr int kTensorOpMath = 1;
inline constexpr int kTf32Math = 3;

/// cudaDataType_t.
inline constexpr int kF32 = 0;
inline constexpr int kF64 = 1;
inline constexpr int kF16 = 2;
inline constexpr int kBf16 = 14;

/// cublasComputeType_t.
inline constexpr int kCompute32F = 68;
inline constexpr int kCompute32FFastTf32 = 77;
inline constexpr int kCompute64F = 70;

/// cublasGemmAlgo_t: CUBLAS_GEMM_DEFAULT.
inline constexpr int kGemmDefault = -1;

/// cublasLtMatrixLayoutAttribute_t.
enum class Layout : int {
  type = 0,
  order = 1,
  rows = 2,
  columns = 3,
  leading = 4,
  batch = 5,
  stride = 6,
  plane_offset = 7,
};
inline constexpr int kColumnOrder = 0;  ///< CUBLASLT_ORDER_COL

/// cublasLtMatmulDescAttributes_t.
enum class Matmul : int {
  compute_type = 0,
  scale_type = 1,
  pointer_mode = 2,
  trans_a = 3,
  trans_b = 4,
  trans_c = 5,
  fill_mode = 6,
  epilogue = 7,
  bias_pointer = 8,
  bias_stride = 10,
  sm_count_target = 15,
  a_scale = 17,
  b_scale = 18,
  c_scale = 19,
  d_scale = 20,
  amax_d = 21,
  bias_type = 26,
};
inline constexpr int kFullFill = 2;  ///< CUBLAS_FILL_MODE_FULL

/// cublasLtEpilogue_t.
inline constexpr int kEpilogueDefault = 1;
inline constexpr int kEpilogueRelu = 2;
inline constexpr int kEpilogueBias = 4;
inline constexpr int kEpilogueReluBias = 6;
inline constexpr int kEpilogueGelu = 32;
inline constexpr int kEpilogueGeluBias = 36;

/// cublasLtMatmulPreferenceAttributes_t.
inline constexpr int kMaxWorkspaceBytes = 1;

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct LtAlgorithm {
  std::uint64_t data[8] = {};
};
struct LtHeuristicResult {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  int state = 0;
  float waves = 0;
  int reserved[4] = {};
};

// The functions, by the integer type of their sizes: int, or std::int64_t for those that end in
// _64.

/// cublasSgemm_v2 and cublasDgemm_v2.
template <typename Real, typename Size>
using Gemm = int(void* handle, int trans_a, int trans_b, Size m, Size n, Size k, const Real* alpha,
                 const Real* a, Size lda, const Real* b, Size ldb, const Real* beta, Real* c,
                 Size ldc);

/// cublasSgemmStridedBatched and cublasDgemmStridedBatched.
template <typename Real, typename Size>
using GemmStrided = int(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,
                        const Real* alpha, const Real* a, Size lda, long long stride_a,
                        const Real* b, Size ldb, long long stride_b, const Real* beta, Real* c,
                        Size ldc, long long stride_c, Size batch);

/// cublasGemmEx.
template <typename Size>
using GemmEx = int(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,
                   const void* alpha, const void* a, int type_a, Size lda, const void* b,
                   int type_b, Size ldb, const void* beta, void* c, int type_c, Size ldc,
                   int compute, int algorithm);

/// cublasGemmStridedBatchedEx.
template <typename Size>
using GemmStridedEx = int(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,
                          const void* alpha, const void* a, int type_a, Size lda,
                          long long stride_a, const void* b, int type_b, Size ldb,
                          long long stride_b, const void* beta, void* c, int type_c, Size ldc,
                          long long stride_c, Size batch, int compute, int algorithm);

/// cublasLtMatmul.
using LtMatmul = int(void* handle, void* description, const void* alpha, const void* a,
                     void* layout_a, const void* b, void* layout_b, const void* beta, const void* c,
                     void* layout_c, void* d, void* layout_d, const LtAlgorithm* algorithm,
                     void* workspace, std::size_t workspace_bytes, void* stream);

/// cublasLtMatmulDescGetAttribute and cublasLtMatrixLayoutGetAttribute.
using LtGetAttribute = int(void* object, int attribute, void* value, std::size_t bytes,
                           std::size_t* written);

}  // namespace kiln::cublas
