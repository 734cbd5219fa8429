// cuBLAS, loaded at run time: where it is missing, its rows are missing and nothing else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <string>

namespace kiln::peers {

/// The calls that are used; all null until loaded.
struct CublasApi {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSgeam) sgeam = nullptr;
  decltype(&cublasDgeam) dgeam = nullptr;
  decltype(&cublasSgemm_v2) sgemm = nullptr;
  decltype(&cublasDgemm_v2) dgemm = nullptr;
  /// cublasGemmEx; the header overloads it.
  cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType, int lda,
                            const void* b, cudaDataType, int ldb, const void* beta, void* c,
                            cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  std::string missing;  ///< why it cannot be used; empty: all is well
};

/// Loaded by the first call; kept until the program ends.
[[nodiscard]] const CublasApi& cublas_api();

/// Throws std::runtime_error when `status` is no success.
void check_cublas(cublasStatus_t status, const char* call);

}  // namespace kiln::peers

#define KILN_CUBLAS(call) ::kiln::peers::check_cublas((call), #call)
