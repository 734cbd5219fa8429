// LtPlan: how cublasLt is asked for a problem of `matmul`: its types, layouts and operations.
//
// cublasLt thinks in columns. A row-major matrix is the column-major matrix of its transpose, so
// C = op(A) op(B) is asked for as C' = op(B)' op(A)': the operands change places, and nothing is
// moved. "first" and "second" are cublasLt's A and B, which are our B and A.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/peers/host/cublaslt_api.hpp"
#include "bench/peers/host/matmul_shape.hpp"

namespace kiln::peers {

/// A column-major matrix; strides in elements.
struct LtMatrix {
  LtType type = LtType::f32;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t stride = 0;        ///< from one column to the next
  std::int64_t batch_stride = 0;  ///< from one matrix of the batch to the next
  std::size_t element_bytes = 0;

  friend bool operator==(const LtMatrix&, const LtMatrix&) = default;
};

struct LtPlan {
  LtCompute compute = LtCompute::f32;
  LtType scalar_type = LtType::f32;  ///< of alpha and beta
  LtTranspose transpose_first = LtTranspose::no;
  LtTranspose transpose_second = LtTranspose::no;
  LtMatrix first;
  LtMatrix second;
  LtMatrix result;
  int batch = 1;
  /// 8-bit floats: sums may also be kept in the matrix unit throughout.
  bool has_fast_sums = false;
};

/// Nothing for element types and precisions that cublasLt does not have; `reason` then says why.
/// Whether it has an algorithm for a plan, only find_algorithms knows.
[[nodiscard]] std::optional<LtPlan> lt_plan(const MatmulShape& shape, std::string& reason);

/// The bytes at whose multiples all matrices of a batch begin, given where the first begins: a
/// power of two, at most 256.
[[nodiscard]] std::uint32_t alignment_of(const LtMatrix& matrix, int batch, const void* data);

}  // namespace kiln::peers
