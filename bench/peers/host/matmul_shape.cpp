// Reads the fields of a problem of `matmul`, and derives how each matrix is stored.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/matmul_shape.hpp"

#include <algorithm>
#include <string>

namespace kiln::peers {
namespace {

const Value* find(const Problem& problem, std::string_view name) {
  const auto& fields = problem.fields();
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const auto& field) { return field.first == name; });
  return at == fields.end() ? nullptr : &at->second;
}

std::int64_t integer_or(const Problem& problem, std::string_view name, std::int64_t otherwise) {
  const Value* value = find(problem, name);
  return value == nullptr ? otherwise : static_cast<std::int64_t>(as_double(*value));
}

std::string text_or(const Problem& problem, std::string_view name, std::string_view otherwise) {
  const Value* value = find(problem, name);
  return value == nullptr ? std::string(otherwise) : to_text(*value);
}

/// Of a field whose default is a constant.
bool differs_from_default(const KernelSpec& spec, const Problem& problem, const std::string& name) {
  const Value* value = find(problem, name);
  const ProblemField* field = spec.find_field(name);
  return value != nullptr && field != nullptr && field->fallback &&
         field->fallback->evaluate(Scope()) != *value;
}

/// A matrix of rows x columns, or of columns x rows where it is stored transposed.
StoredMatrix stored(DType dtype, std::int64_t rows, std::int64_t columns, bool transposed,
                    std::int64_t stride) {
  if (transposed) std::swap(rows, columns);
  return {dtype, rows, columns, stride, rows * stride};
}

}  // namespace

MatmulShape matmul_shape(const KernelSpec& spec, const Problem& problem,
                         const MatmulValues& values) {
  MatmulShape shape;
  shape.m = problem.integer("m");
  shape.n = problem.integer("n");
  shape.k = problem.integer("k");
  shape.batch = integer_or(problem, "batch", 1);
  shape.trans_a = problem.text_of("trans_a") == "true";
  shape.trans_b = problem.text_of("trans_b") == "true";
  shape.a = stored(values.a, shape.m, shape.k, shape.trans_a, problem.integer("lda"));
  shape.b = stored(values.b, shape.k, shape.n, shape.trans_b, problem.integer("ldb"));
  shape.c = stored(values.c, shape.m, shape.n, false, problem.integer("ldc"));
  shape.a.batch_stride = integer_or(problem, "stride_a", shape.a.batch_stride);
  shape.b.batch_stride = integer_or(problem, "stride_b", shape.b.batch_stride);
  shape.c.batch_stride = integer_or(problem, "stride_c", shape.c.batch_stride);
  shape.precision = text_or(problem, "precision", "highest");
  shape.has_formula = differs_from_default(spec, problem, "epilogue");
  shape.alpha = values.alpha;
  shape.beta = values.beta;
  return shape;
}

std::string layout_text(const MatmulShape& shape) {
  return {shape.trans_a ? 'T' : 'N', shape.trans_b ? 'T' : 'N'};
}

}  // namespace kiln::peers
