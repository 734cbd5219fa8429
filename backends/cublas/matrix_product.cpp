// SPDX-License-Identifier: Apache-2.0
#include "backends/cublas/matrix_product.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kiln {
namespace {

struct EpilogueFormula {
  MatrixProduct::Epilogue epilogue;
  std::string_view formula;
};

// cuBLAS computes GELU by tanh.
constexpr std::array kFormulas = {
    EpilogueFormula{MatrixProduct::Epilogue::none, "alpha * x + beta * c"},
    EpilogueFormula{MatrixProduct::Epilogue::bias, "alpha * x + bias"},
    EpilogueFormula{MatrixProduct::Epilogue::relu, "max(alpha * x, 0)"},
    EpilogueFormula{MatrixProduct::Epilogue::relu_bias, "max(alpha * x + bias, 0)"},
    EpilogueFormula{MatrixProduct::Epilogue::gelu,
                    "alpha * x / 2 * (1 + tanh(0.7978845608028654 * alpha * x * (1 + 0.044715 * "
                    "alpha * x * alpha * x)))"},
    EpilogueFormula{MatrixProduct::Epilogue::gelu_bias,
                    "(alpha * x + bias) / 2 * (1 + tanh(0.7978845608028654 * (alpha * x + bias) * "
                    "(1 + 0.044715 * (alpha * x + bias) * (alpha * x + bias))))"},
};

std::string_view formula_of(MatrixProduct::Epilogue epilogue) {
  return kFormulas[static_cast<std::size_t>(epilogue)].formula;
}

std::int64_t stored_rows_of_a(const MatrixProduct& product) {
  return product.trans_a ? product.k : product.m;
}

std::int64_t stored_rows_of_b(const MatrixProduct& product) {
  return product.trans_b ? product.n : product.k;
}

}  // namespace

std::uint64_t MatrixProduct::hash() const {
  const auto traits =
      static_cast<std::uint64_t>(dtype) | static_cast<std::uint64_t>(out) << 8U |
      static_cast<std::uint64_t>(precision) << 16U | static_cast<std::uint64_t>(epilogue) << 24U |
      static_cast<std::uint64_t>(trans_a) << 32U | static_cast<std::uint64_t>(trans_b) << 33U |
      static_cast<std::uint64_t>(beta_zero) << 34U;
  std::uint64_t hash = traits;
  for (const std::int64_t word : {m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c}) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

std::int64_t MatrixProduct::extent_of_c() const {
  return (batch - 1) * stride_c + (m - 1) * ldc + n;
}

MatrixProduct transposed(const MatrixProduct& product) {
  MatrixProduct other = product;
  std::swap(other.m, other.n);
  other.trans_a = product.trans_b;
  other.trans_b = product.trans_a;
  std::swap(other.lda, other.ldb);
  std::swap(other.stride_a, other.stride_b);
  return other;
}

void normalise(MatrixProduct& product) {
  if (product.batch != 1) return;
  product.stride_a = stored_rows_of_a(product) * product.lda;
  product.stride_b = stored_rows_of_b(product) * product.ldb;
  product.stride_c = product.m * product.ldc;
}

std::string problem_text(const MatrixProduct& product) {
  return fmt::format(
      "m={} n={} k={} dtype={} out={} precision={} trans_a={} trans_b={} epilogue='{}' "
      "beta_zero={} lda={} ldb={} ldc={} batch={} stride_a={} stride_b={} stride_c={}",
      product.m, product.n, product.k, name_of(product.dtype), name_of(product.out),
      product.precision == MatrixProduct::Precision::highest ? "highest" : "high", product.trans_a,
      product.trans_b, formula_of(product.epilogue), product.beta_zero, product.lda, product.ldb,
      product.ldc, product.batch, product.stride_a, product.stride_b, product.stride_c);
}

std::optional<MatrixProduct> product_of(const Problem& problem) {
  MatrixProduct product;
  for (const auto& [name, field] :
       {std::pair{"m", &product.m}, std::pair{"n", &product.n}, std::pair{"k", &product.k},
        std::pair{"lda", &product.lda}, std::pair{"ldb", &product.ldb},
        std::pair{"ldc", &product.ldc}, std::pair{"batch", &product.batch},
        std::pair{"stride_a", &product.stride_a}, std::pair{"stride_b", &product.stride_b},
        std::pair{"stride_c", &product.stride_c}}) {
    *field = problem.integer(name);
  }
  const auto is_true = [&](const char* name) { return problem.text_of(name) == "true"; };
  product.trans_a = is_true("trans_a");
  product.trans_b = is_true("trans_b");
  product.beta_zero = is_true("beta_zero");
  const std::optional<DType> dtype = parse_dtype(problem.text_of("dtype"));
  const std::optional<DType> out = parse_dtype(problem.text_of("out"));
  const std::string precision = problem.text_of("precision");
  const std::string formula = problem.text_of("epilogue");
  const auto* known = std::find_if(kFormulas.begin(), kFormulas.end(),
                                   [&](const auto& each) { return each.formula == formula; });
  const bool is_of_library = dtype && out && size_of(*dtype) > 1 && known != kFormulas.end() &&
                             precision != "medium" && problem.text_of("bias_along") == "n";
  if (!is_of_library) return std::nullopt;
  product.dtype = *dtype;
  product.out = *out;
  product.precision =
      precision == "high" ? MatrixProduct::Precision::high : MatrixProduct::Precision::highest;
  product.epilogue = known->epilogue;
  return product;
}

}  // namespace kiln
