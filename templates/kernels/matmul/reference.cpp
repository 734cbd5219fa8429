// The matrix product that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "templates/kernels/references.hpp"

namespace kiln {
namespace {

// A stored matrix as op() of it: element (r, c) wherever it lies.
class Operand {
 public:
  Operand(const HostArray& array, bool transposed)
      : array_(array),
        row_step_(transposed ? 1 : array.shape[1]),
        column_step_(transposed ? array.shape[1] : 1) {}

  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const {
    return array_.get(static_cast<std::size_t>(r * row_step_ + c * column_step_));
  }

 private:
  const HostArray& array_;
  std::int64_t row_step_;
  std::int64_t column_step_;
};

}  // namespace

// c[r][j] = alpha * sum over i of op(a)[r][i] * op(b)[i][j] + beta * c[r][j], added up in f64.
void matmul_reference(ReferenceCall& call) {
  const Problem& problem = call.problem;
  const std::int64_t m = problem.integer("m");
  const std::int64_t n = problem.integer("n");
  const std::int64_t k = problem.integer("k");
  const Operand a(call.arrays.at("a"), std::get<bool>(problem.at("trans_a")));
  const Operand b(call.arrays.at("b"), std::get<bool>(problem.at("trans_b")));
  HostArray& c = call.arrays.at("c");
  const double alpha = call.scalars.at("alpha");
  const double beta = std::get<bool>(problem.at("beta_zero")) ? 0 : call.scalars.at("beta");

  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < m; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t i = 0; i < k;
         ++i) {  // row by row of op(b): the order in which it usually lies
      const double x = a.at(r, i);
      for (std::int64_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(j)] += x * b.at(i, j);
    }
    double* row = c.elements<double>() + r * c.shape[1];
    for (std::int64_t j = 0; j < n; ++j) {
      const double old = beta == 0 ? 0 : beta * row[j];
      row[j] = alpha * sums[static_cast<std::size_t>(j)] + old;
    }
  }
}

}  // namespace kiln
