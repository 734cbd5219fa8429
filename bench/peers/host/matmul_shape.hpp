// MatmulShape: a problem of the kernel `matmul` in plain numbers, for the libraries that it is
// compared with and for the product in f64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/dtype.hpp"
#include "core/problem.hpp"

namespace kiln::peers {

/// One operand as it is stored: row-major, `rows` x `columns` elements for each matrix of a batch.
struct StoredMatrix {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;        ///< elements from one row to the next
  std::int64_t batch_stride = 0;  ///< elements from one matrix of the batch to the next
};

/// C = alpha * op(A) op(B) + beta * C.
struct MatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool trans_a = false;  ///< A is stored as k x m
  bool trans_b = false;  ///< B is stored as n x k
  StoredMatrix a;
  StoredMatrix b;
  StoredMatrix c;
  std::string precision = "highest";  ///< of f32 operands
  bool has_formula = false;           ///< an epilogue that is more than alpha and beta
  double alpha = 1;
  double beta = 0;

  [[nodiscard]] double operations() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

/// Element types as the spec's arguments have them, and the values of its scalars.
struct MatmulValues {
  DType a = DType::f32;
  DType b = DType::f32;
  DType c = DType::f32;
  double alpha = 1;
  double beta = 0;
};

/// Fields that the spec does not have take their defaults: batch (1), stride_a, stride_b and
/// stride_c (one whole matrix), precision (highest), epilogue (no formula). An epilogue is a
/// formula where it differs from the spec's default.
[[nodiscard]] MatmulShape matmul_shape(const KernelSpec& spec, const Problem& problem,
                                       const MatmulValues& values);

/// "NT" for A as stored and B transposed.
[[nodiscard]] std::string layout_text(const MatmulShape& shape);

}  // namespace kiln::peers
