// The product in f64, computed on the device, and how far other products are from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "bench/peers/device_data.hpp"
#include "bench/peers/host/matmul_shape.hpp"
#include "bench/peers/host/row.hpp"

namespace kiln::peers {

class MatmulReference {
 public:
  /// Whether the product is small enough to be computed once more in f64: about a second and 4 GiB.
  /// Never for a formula, whose values are not known here.
  [[nodiscard]] static bool is_affordable(const MatmulShape& shape);

  /// Enqueues alpha * op(A) op(B) + beta * C, with the operands' values taken exactly. `c`: what
  /// the result holds before the product; read where beta is not 0.
  MatmulReference(const MatmulShape& shape, const DeviceArray& a, const DeviceArray& b,
                  const DeviceArray& c, cudaStream_t stream);

  /// Of a result with the strides of C; waits for the stream. Not a number where the result has
  /// such elements.
  [[nodiscard]] ProductError error_of(const DeviceArray& result) const;

 private:
  MatmulShape shape_;
  cudaStream_t stream_;
  DeviceArray product_;  // f64, batch x m x n, dense
};

}  // namespace kiln::peers
