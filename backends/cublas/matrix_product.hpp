// MatrixProduct: one product as cuBLAS is asked for it and as Kiln's `matmul` computes it.
//
// cuBLAS is column-major and `matmul` row-major. A column-major matrix is the transposed row-major
// one in the same memory, so C = op(A) op(B) becomes C^T = op(B)^T op(A)^T: the operands change
// places, and with them their sizes, leading dimensions and strides. transposed() does this; done
// twice it gives back what it was given.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.hpp"
#include "core/problem.hpp"

namespace kiln {

struct MatrixProduct {
  /// What becomes of a sum. All but `none` are written for beta = 0.
  enum class Epilogue : std::uint8_t { none, bias, relu, relu_bias, gelu, gelu_bias };
  enum class Precision : std::uint8_t {
    highest,
    high,  ///< f32 with operands of 11 bits (tf32)
  };

  std::int64_t m = 0;  ///< rows of C
  std::int64_t n = 0;  ///< columns of C
  std::int64_t k = 0;
  std::int64_t lda = 0;  ///< elements, as all leading dimensions and strides
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  DType dtype = DType::f32;  ///< of A and B
  DType out = DType::f32;    ///< of C and of the bias
  Precision precision = Precision::highest;
  Epilogue epilogue = Epilogue::none;
  bool trans_a = false;
  bool trans_b = false;
  bool beta_zero = false;  ///< C is written and not read

  friend bool operator==(const MatrixProduct&, const MatrixProduct&) = default;
  [[nodiscard]] std::uint64_t hash() const;
  /// Elements from the first of C to behind its last.
  [[nodiscard]] std::int64_t extent_of_c() const;
};

/// Returns the same product in the other order of memory.
[[nodiscard]] MatrixProduct transposed(const MatrixProduct& product);

/// Sets the strides of a single product to those of dense matrices, which `matmul` takes as their
/// default, so that equal products compare equal. `product` is row-major.
void normalise(MatrixProduct& product);

/// Returns the row-major product as a problem of `matmul`, with every field that it sets.
[[nodiscard]] std::string problem_text(const MatrixProduct& product);

/// Returns the row-major product of a problem of `matmul`; nullopt if cuBLAS has no such call.
[[nodiscard]] std::optional<MatrixProduct> product_of(const Problem& problem);

}  // namespace kiln
