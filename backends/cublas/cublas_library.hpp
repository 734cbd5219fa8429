// CublasLibrary: cuBLAS as the tuner runs it against Kiln's kernels. Loaded at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends/backend.hpp"
#include "backends/cublas/matrix_product.hpp"
#include "core/result.hpp"

namespace kiln {

/// The operands of a product in device memory, and its scalars.
struct ProductOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;  ///< null where the product has none
  double alpha = 1;
  double beta = 0;
};

/// One call of the library, ready to be made many times. Not thread-safe.
class CublasCall {
 public:
  virtual ~CublasCall() = default;
  /// Puts the call on the queue; does not wait.
  [[nodiscard]] virtual Status enqueue() = 0;
  /// "cublas 13.1.0": compares equal for the library of the same release.
  [[nodiscard]] virtual const std::string& library() const = 0;
};

/// Loads the process's cuBLAS and makes the call that a program would make for the row-major
/// `product`: cublasSgemm or cublasDgemm, cublasGemmEx for 16 bits, their strided forms for
/// batches, and cublasLtMatmul with its first heuristic for an epilogue. `native`: the context and
/// stream that it runs on; both must outlive the result. KILN_CUBLAS_PATH names another library
/// than those of the usual places. A Failure says what is missing or not supported.
[[nodiscard]] Result<std::unique_ptr<CublasCall>> make_cublas_call(const NativeQueue& native,
                                                                   const MatrixProduct& product,
                                                                   const ProductOperands& operands);

/// "cublas 13.1.0" of the library whose cublasGetProperty this is; empty if it does not answer.
[[nodiscard]] std::string cublas_release(int (*get_property)(int what, int* value));

}  // namespace kiln
