// Maps element types, precisions and row-major matrices to the types and layouts of cublasLt.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cublaslt_plan.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace kiln::peers {
namespace {

std::optional<LtType> lt_type(DType dtype) {
  static constexpr std::array<std::pair<std::string_view, LtType>, 8> kTypes = {{
      {"f32", LtType::f32},
      {"f64", LtType::f64},
      {"f16", LtType::f16},
      {"bf16", LtType::bf16},
      {"e4m3", LtType::e4m3},
      {"e5m2", LtType::e5m2},
      {"i8", LtType::i8},
      {"i32", LtType::i32},
  }};
  for (const auto& [name, type] : kTypes) {
    if (name == name_of(dtype)) return type;
  }
  return std::nullopt;
}

bool is_small_float(LtType type) { return type == LtType::e4m3 || type == LtType::e5m2; }

/// The arithmetic for operands of `type`; nothing where `precision` is unknown.
std::optional<LtCompute> compute_of(LtType type, const std::string& precision) {
  if (type == LtType::f64) return LtCompute::f64;
  if (type == LtType::i8) return LtCompute::i32;
  if (type != LtType::f32 || precision == "highest") return LtCompute::f32;
  if (precision == "high") return LtCompute::f32_from_tf32;
  if (precision == "medium") return LtCompute::f32_from_bf16;
  return std::nullopt;
}

LtType scalar_type_of(LtCompute compute) {
  if (compute == LtCompute::f64) return LtType::f64;
  return compute == LtCompute::i32 ? LtType::i32 : LtType::f32;
}

/// Rows become columns: the same bytes.
LtMatrix column_major(const StoredMatrix& matrix, LtType type) {
  return {type,
          static_cast<std::uint64_t>(matrix.columns),
          static_cast<std::uint64_t>(matrix.rows),
          matrix.stride,
          matrix.batch_stride,
          size_of(matrix.dtype)};
}

LtTranspose transpose_of(bool stored_transposed) {
  return stored_transposed ? LtTranspose::yes : LtTranspose::no;
}

}  // namespace

std::optional<LtPlan> lt_plan(const MatmulShape& shape, std::string& reason) {
  const std::optional<LtType> a = lt_type(shape.a.dtype);
  const std::optional<LtType> b = lt_type(shape.b.dtype);
  const std::optional<LtType> c = lt_type(shape.c.dtype);
  if (!a || !b || !c || *a == LtType::i32 || *b == LtType::i32) {
    reason = fmt::format("has no products of {} and {} to {}", name_of(shape.a.dtype),
                         name_of(shape.b.dtype), name_of(shape.c.dtype));
    return std::nullopt;
  }
  const std::optional<LtCompute> compute = compute_of(*a, shape.precision);
  if (!compute) {
    reason = fmt::format("has no precision '{}'", shape.precision);
    return std::nullopt;
  }
  LtPlan plan;
  plan.compute = *compute;
  plan.scalar_type = scalar_type_of(*compute);
  plan.transpose_first = transpose_of(shape.trans_b);
  plan.transpose_second = transpose_of(shape.trans_a);
  plan.first = column_major(shape.b, *b);
  plan.second = column_major(shape.a, *a);
  plan.result = column_major(shape.c, *c);
  plan.batch = static_cast<int>(shape.batch);
  plan.has_fast_sums = is_small_float(*a) && is_small_float(*b);
  return plan;
}

std::uint32_t alignment_of(const LtMatrix& matrix, int batch, const void* data) {
  constexpr std::uint32_t kMost = 256;
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(data) | kMost;
  if (batch > 1) bits |= static_cast<std::uint64_t>(matrix.batch_stride) * matrix.element_bytes;
  return static_cast<std::uint32_t>(bits & (~bits + 1));  // the lowest bit that is set
}

}  // namespace kiln::peers
