// The matrix product that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace kiln {
namespace {

// A stored matrix as op() of it: element (r, c) wherever it lies, `first` elements into the array.
class Operand {
 public:
  Operand(const HostArray& array, bool transposed, std::int64_t first)
      : array_(array),
        first_(first),
        row_step_(transposed ? 1 : array.shape[1]),
        column_step_(transposed ? array.shape[1] : 1) {}

  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const {
    return array_.get(static_cast<std::size_t>(first_ + r * row_step_ + c * column_step_));
  }

 private:
  const HostArray& array_;
  std::int64_t first_;
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

// One product of the batch. Sums of i8 are whole numbers, which f64 holds exactly.
template <typename Result>
void multiply(const Operand& a, const Operand& b, const Problem& problem, ProductEpilogue& epilogue,
              Result* c, std::int64_t ldc) {
  const std::int64_t n = problem.integer("n");
  const std::int64_t k = problem.integer("k");
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < problem.integer("m"); ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t i = 0; i < k;
         ++i) {  // row by row of op(b): the order in which it usually lies
      const double x = a.at(r, i);
      for (std::int64_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(j)] += x * b.at(i, j);
    }
    Result* row = c + r * ldc;
    for (std::int64_t j = 0; j < n; ++j) {
      const double sum = sums[static_cast<std::size_t>(j)];
      row[j] = static_cast<Result>(epilogue.of(sum, static_cast<double>(row[j]), r, j));
    }
  }
}

template <typename Result>
void multiply_all(ReferenceCall& call) {
  const Problem& problem = call.problem;
  HostArray& c = call.arrays.at("c");
  ProductEpilogue epilogue(call);
  for (std::int64_t i = 0; i < problem.integer("batch"); ++i) {
    const Operand a(call.arrays.at("a"), std::get<bool>(problem.at("trans_a")),
                    i * problem.integer("stride_a"));
    const Operand b(call.arrays.at("b"), std::get<bool>(problem.at("trans_b")),
                    i * problem.integer("stride_b"));
    multiply(a, b, problem, epilogue, c.elements<Result>() + i * problem.integer("stride_c"),
             c.shape[1]);
  }
}

}  // namespace

// c[r][j] = the epilogue of the sum over i of op(a)[r][i] * op(b)[i][j], added up in f64, for each
// product of the batch.
void matmul_reference(ReferenceCall& call) {
  if (is_floating(call.arrays.at("c").dtype)) {
    multiply_all<double>(call);
  } else {
    multiply_all<std::int64_t>(call);
  }
}

}  // namespace kiln
