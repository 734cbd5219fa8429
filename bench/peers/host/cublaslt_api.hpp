// cublasLt, opened at run time and declared here, so that neither its header nor the library is
// needed to build. tests/bench/cublaslt_headers_test.cpp compares this with cublasLt.h.
//
// Handles and descriptors are void*; every call but two returns a status, 0 for success.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// clang-format off
#define KILN_CUBLASLT_CALLS(CALL)                                                                \
  CALL(create, cublasLtCreate, (void** handle))                                                  \
  CALL(destroy, cublasLtDestroy, (void* handle))                                                 \
  CALL(operation_create, cublasLtMatmulDescCreate,                                               \
       (void** operation, int compute, int scalar_type))                                         \
  CALL(operation_destroy, cublasLtMatmulDescDestroy, (void* operation))                          \
  CALL(operation_set, cublasLtMatmulDescSetAttribute,                                            \
       (void* operation, int attribute, const void* value, std::size_t bytes))                   \
  CALL(layout_create, cublasLtMatrixLayoutCreate,                                                \
       (void** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t stride)) \
  CALL(layout_destroy, cublasLtMatrixLayoutDestroy, (void* layout))                              \
  CALL(layout_set, cublasLtMatrixLayoutSetAttribute,                                             \
       (void* layout, int attribute, const void* value, std::size_t bytes))                      \
  CALL(preference_create, cublasLtMatmulPreferenceCreate, (void** preference))                   \
  CALL(preference_destroy, cublasLtMatmulPreferenceDestroy, (void* preference))                  \
  CALL(preference_set, cublasLtMatmulPreferenceSetAttribute,                                     \
       (void* preference, int attribute, const void* value, std::size_t bytes))                  \
  CALL(find_algorithms, cublasLtMatmulAlgoGetHeuristic,                                          \
       (void* handle, void* operation, void* a, void* b, void* c, void* d, void* preference,     \
        int wanted, LtHeuristic* found, int* count))                                             \
  CALL(algorithm_get, cublasLtMatmulAlgoConfigGetAttribute,                                      \
       (const LtAlgorithm* algorithm, int attribute, void* value, std::size_t bytes,             \
        std::size_t* written))                                                                   \
  CALL(multiply, cublasLtMatmul,                                                                 \
       (void* handle, void* operation, const void* alpha, const void* a, void* a_layout,         \
        const void* b, void* b_layout, const void* beta, const void* c, void* c_layout, void* d, \
        void* d_layout, const LtAlgorithm* algorithm, void* workspace, std::size_t bytes,        \
        void* stream))
// clang-format on

namespace kiln::peers {

/// Numbers of cudaDataType.
enum class LtType : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  i32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29,
};

/// Numbers of cublasComputeType_t.
enum class LtCompute : int {
  f32 = 68,  ///< f32 means f32
  f64 = 70,
  i32 = 72,
  f32_from_bf16 = 75,  ///< may round f32 operands to bf16
  f32_from_tf32 = 77,  ///< may round f32 operands to tf32
};

/// Numbers of cublasOperation_t.
enum class LtTranspose : int { no = 0, yes = 1 };

/// Numbers of cublasLtMatmulDescAttributes_t.
enum class LtOperationAttribute : int { transpose_a = 3, transpose_b = 4, fast_sums = 25 };

/// Numbers of cublasLtMatrixLayoutAttribute_t.
enum class LtLayoutAttribute : int { batch_count = 5, batch_stride = 6 };

/// Numbers of cublasLtMatmulPreferenceAttributes_t.
enum class LtPreferenceAttribute : int {
  workspace_bytes = 1,
  alignment_a = 5,
  alignment_b = 6,
  alignment_c = 7,
  alignment_d = 8,
};

/// Numbers of cublasLtMatmulAlgoConfigAttributes_t.
enum class LtAlgorithmAttribute : int { id = 0, tile = 1, splits = 2, stages = 6, cluster = 8 };

/// Numbers of cublasStatus_t.
enum class LtStatus : int { success = 0, not_initialized = 1, not_supported = 15 };

/// cublasLtMatmulAlgo_t.
struct LtAlgorithm {
  std::uint64_t data[8] = {};
};

/// cublasLtMatmulHeuristicResult_t.
struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  int status = 0;  ///< the rest holds only where this is success
  float waves = 0;
  int reserved[4] = {};
};

/// The calls that are used; null until bound.
struct LtApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(member, symbol, signature) int(*member) signature = nullptr;
  KILN_CUBLASLT_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  std::size_t (*version)() = nullptr;         ///< cublasLtGetVersion
  const char* (*status_name)(int) = nullptr;  ///< cublasLtGetStatusName
};

/// The process's cublasLt, opened by the first call and kept until the program ends. It is looked
/// for as libcublasLt.so.13, then .so.12: in the loader's path, in $CUDA_PATH/lib64, in
/// /usr/local/cuda/lib64. KILN_CUBLASLT_LIBRARY names one file instead. Throws DeviceError when no
/// library can be used.
[[nodiscard]] const LtApi& cublaslt();

/// Throws std::runtime_error with the call's text and the status by name unless `status` is 0.
void check_lt(const LtApi& api, int status, const char* call);

/// "13.0.2".
[[nodiscard]] std::string version_text(const LtApi& api);

}  // namespace kiln::peers
