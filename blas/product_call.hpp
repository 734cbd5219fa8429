// ProductCall: a call of cuBLAS that Kiln understands, as a row-major product with its operands.
//
// Reading a call never changes anything. What is not understood in full is no ProductCall, and the
// library gets the call as it came.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backends/cublas/cublas_library.hpp"
#include "backends/cublas/matrix_product.hpp"
#include "blas/interception.hpp"

namespace kiln::blas {

struct ProductCall {
  MatrixProduct product;  ///< row-major, normalised
  ProductOperands operands;
  void* stream = nullptr;
  const char* function = nullptr;  ///< the name of the call
};

/// The numbers of a gemm call as cuBLAS gets them: column-major.
struct GemmArguments {
  const char* function = nullptr;
  void* handle = nullptr;
  int trans_a = 0;
  int trans_b = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const void* alpha = nullptr;
  const void* beta = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int type_a = cublas::kF32;
  int type_b = cublas::kF32;
  int type_c = cublas::kF32;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  /// cublasComputeType_t of the Ex calls; nullopt: as the types and the handle's math mode say.
  std::optional<int> compute;
};

/// nullopt: not understood, which includes scalars in device memory, sizes of 0, alpha = 0 and
/// pedantic or emulated arithmetic.
[[nodiscard]] std::optional<ProductCall> read_gemm(const RealLibrary& real,
                                                   const GemmArguments& arguments) noexcept;

/// The arguments of cublasLtMatmul that decide; its algorithm and workspace are the library's.
struct LtArguments {
  void* description = nullptr;
  const void* alpha = nullptr;
  const void* beta = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  void* layout_a = nullptr;
  void* layout_b = nullptr;
  void* layout_c = nullptr;
  void* layout_d = nullptr;
  void* stream = nullptr;
};

/// nullopt as above. In addition C must be D wherever beta is not 0, and every attribute of the
/// description that Kiln has no word for must have its default.
[[nodiscard]] std::optional<ProductCall> read_lt(const RealLibrary& real,
                                                 const LtArguments& arguments) noexcept;

}  // namespace kiln::blas
