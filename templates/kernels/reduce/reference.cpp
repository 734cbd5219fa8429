// The CPU loop of reduce: out[r] = op over i of map(in[r, i]) or map(in[i, r]), summed in f64 with
// a correction term.
//
// i32 wraps at 32 bits like the kernels. NaN is not defined for min and max.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace kiln {
namespace {

/// Neumaier's summation: the error of the f64 sum is carried along, so n does not matter.
/// (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974.)
class ExactSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    lost_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  /// Of a sum that is not finite, the error is not a number.
  [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// The problem's formula over x, i and n; without one (map is "x") the term is x itself.
class Term {
 public:
  explicit Term(const Problem& problem) : n_(static_cast<double>(problem.integer("n"))) {
    const std::string text = problem.text_of("map");
    if (text == "x") return;
    const std::vector<std::string> variables = {"x", "i", "n"};
    formula_ = Expression::parse_formula(text, variables);
  }

  [[nodiscard]] double at(double x, std::size_t index) {
    if (!formula_) return x;
    scope_.set("x", x);
    scope_.set("i", static_cast<double>(index));
    scope_.set("n", n_);
    return formula_->evaluate_number(scope_);
  }

 private:
  double n_;
  std::optional<Expression> formula_;
  Scope scope_;
};

/// Where the terms of one result lie: term i is element first + i * stride.
struct Line {
  std::size_t first = 0;
  std::size_t stride = 1;
};

std::int32_t reduce_i32(const std::int32_t* in, const std::int32_t* other, const std::string& op,
                        std::size_t n, Line line) {
  std::uint32_t sum = 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = std::numeric_limits<std::int32_t>::min();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = line.first + i * line.stride;
    const auto x = static_cast<std::uint32_t>(in[at]);
    sum += other ? x * static_cast<std::uint32_t>(other[at]) : x;
    least = std::min(least, in[at]);
    most = std::max(most, in[at]);
  }
  return op == "min" ? least : op == "max" ? most : static_cast<std::int32_t>(sum);
}

double reduce_real(const HostArray* in, const HostArray* other, Term& term, const std::string& op,
                   std::size_t n, Line line) {
  ExactSum sum;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = line.first + i * line.stride;
    double x = in ? in->get(at) : static_cast<double>(i);
    if (other) x *= other->get(at);
    const double value = term.at(x, i);
    sum.add(value);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return op == "min" ? least : op == "max" ? most : sum.value();
}

}  // namespace

void reduce_reference(ReferenceCall& call) {
  const auto n = static_cast<std::size_t>(call.problem.integer("n"));
  const auto results = static_cast<std::size_t>(call.problem.integer("results"));
  const bool along_rows = call.problem.text_of("axis") == "last";
  const std::string op = call.problem.text_of("op");
  const bool whole = call.problem.text_of("dtype") == "i32";
  const HostArray* in = call.problem.text_of("source") == "array" ? &call.arrays.at("in") : nullptr;
  const HostArray* other = op == "dot" ? &call.arrays.at("other") : nullptr;
  HostArray& out = call.arrays.at("out");

  Term term(call.problem);
  for (std::size_t r = 0; r < results; ++r) {
    const Line line = along_rows ? Line{r * n, 1} : Line{r, results};
    if (whole) {
      out.elements<std::int64_t>()[r] =
          reduce_i32(in->elements<std::int32_t>(),
                     other ? other->elements<std::int32_t>() : nullptr, op, n, line);
    } else {
      out.elements<double>()[r] = reduce_real(in, other, term, op, n, line);
    }
  }
}

}  // namespace kiln
