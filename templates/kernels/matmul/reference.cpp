// The matrix product that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"
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

/// What an element of C is made of, by the problem's formula.
class ProductEpilogue {
 public:
  explicit ProductEpilogue(ReferenceCall& call)
      : alpha_(call.scalars.at("alpha")),
        reads_c_(!std::get<bool>(call.problem.at("beta_zero"))),
        along_n_(call.problem.text_of("bias_along") == "n") {
    const std::vector<std::string> variables = {"x", "bias", "c", "alpha", "beta"};
    formula_ = Expression::parse_formula(call.problem.text_of("epilogue"), variables);
    const auto bias = call.arrays.find("bias");
    if (bias != call.arrays.end()) bias_ = &bias->second;
    scope_.set("alpha", alpha_);
    scope_.set("beta", call.scalars.at("beta"));
    is_plain_ = call.problem.text_of("epilogue") == "alpha * x + beta * c";
  }

  [[nodiscard]] double of(double sum, double old, std::int64_t row, std::int64_t column) {
    if (is_plain_ && !reads_c_) return alpha_ * sum;
    scope_.set("x", sum);
    scope_.set("c", old);
    scope_.set("bias", bias_ == nullptr
                           ? 0.0
                           : bias_->get(static_cast<std::size_t>(along_n_ ? column : row)));
    return formula_->evaluate_number(scope_);
  }

 private:
  double alpha_;
  bool reads_c_;
  bool along_n_;
  bool is_plain_ = false;
  std::optional<Expression> formula_;
  const HostArray* bias_ = nullptr;
  Scope scope_;
};

}  // namespace

// c[r][j] = the epilogue of the sum over i of op(a)[r][i] * op(b)[i][j], added up in f64.
void matmul_reference(ReferenceCall& call) {
  const Problem& problem = call.problem;
  const std::int64_t m = problem.integer("m");
  const std::int64_t n = problem.integer("n");
  const std::int64_t k = problem.integer("k");
  const Operand a(call.arrays.at("a"), std::get<bool>(problem.at("trans_a")));
  const Operand b(call.arrays.at("b"), std::get<bool>(problem.at("trans_b")));
  HostArray& c = call.arrays.at("c");
  ProductEpilogue epilogue(call);

  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < m; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t i = 0; i < k;
         ++i) {  // row by row of op(b): the order in which it usually lies
      const double x = a.at(r, i);
      for (std::int64_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(j)] += x * b.at(i, j);
    }
    double* row = c.elements<double>() + r * c.shape[1];
    for (std::int64_t j = 0; j < n; ++j)
      row[j] = epilogue.of(sums[static_cast<std::size_t>(j)], row[j], r, j);
  }
}

}  // namespace kiln
