// Makes the descriptors of a product, asks the heuristic of cublasLt, and runs its algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cublaslt_product.hpp"

#include <stdexcept>

#include <fmt/format.h>

#define KILN_LT(api, call, ...) check_lt(api, (api).call(__VA_ARGS__), "cublasLt " #call)

namespace kiln::peers {
namespace {

int number(auto value) { return static_cast<int>(value); }

LtObject make_operation(const LtApi& api, const LtPlan& plan, LtSums sums) {
  void* made = nullptr;
  KILN_LT(api, operation_create, &made, number(plan.compute), number(plan.scalar_type));
  LtObject operation(made, api.operation_destroy);
  const auto first = static_cast<std::int32_t>(plan.transpose_first);
  const auto second = static_cast<std::int32_t>(plan.transpose_second);
  KILN_LT(api, operation_set, made, number(LtOperationAttribute::transpose_a), &first,
          sizeof first);
  KILN_LT(api, operation_set, made, number(LtOperationAttribute::transpose_b), &second,
          sizeof second);
  if (sums == LtSums::fast) {
    const std::int8_t on = 1;
    KILN_LT(api, operation_set, made, number(LtOperationAttribute::fast_sums), &on, sizeof on);
  }
  return operation;
}

LtObject make_layout(const LtApi& api, const LtMatrix& matrix, int batch) {
  void* made = nullptr;
  KILN_LT(api, layout_create, &made, number(matrix.type), matrix.rows, matrix.columns,
          matrix.stride);
  LtObject layout(made, api.layout_destroy);
  if (batch > 1) {
    const std::int32_t count = batch;
    KILN_LT(api, layout_set, made, number(LtLayoutAttribute::batch_count), &count, sizeof count);
    KILN_LT(api, layout_set, made, number(LtLayoutAttribute::batch_stride), &matrix.batch_stride,
            sizeof matrix.batch_stride);
  }
  return layout;
}

LtObject make_preference(const LtApi& api, const LtPlan& plan, const LtPointers& pointers) {
  void* made = nullptr;
  KILN_LT(api, preference_create, &made);
  LtObject preference(made, api.preference_destroy);
  const std::uint64_t bytes = pointers.workspace_bytes;
  KILN_LT(api, preference_set, made, number(LtPreferenceAttribute::workspace_bytes), &bytes,
          sizeof bytes);
  const auto align = [&](LtPreferenceAttribute attribute, const LtMatrix& matrix,
                         const void* data) {
    const std::uint32_t alignment = alignment_of(matrix, plan.batch, data);
    KILN_LT(api, preference_set, made, number(attribute), &alignment, sizeof alignment);
  };
  align(LtPreferenceAttribute::alignment_a, plan.first, pointers.first);
  align(LtPreferenceAttribute::alignment_b, plan.second, pointers.second);
  align(LtPreferenceAttribute::alignment_c, plan.result, pointers.result);
  align(LtPreferenceAttribute::alignment_d, plan.result, pointers.result);
  return preference;
}

/// alpha or beta in the type that the plan asks for.
union Scalar {
  float f32;
  double f64;
  std::int32_t i32;
};

Scalar scalar_of(LtType type, double value) {
  Scalar scalar{};
  if (type == LtType::f64) {
    scalar.f64 = value;
  } else if (type == LtType::i32) {
    scalar.i32 = static_cast<std::int32_t>(value);
  } else {
    scalar.f32 = static_cast<float>(value);
  }
  return scalar;
}

LtObject make_handle(const LtApi& api) {
  void* made = nullptr;
  KILN_LT(api, create, &made);
  return {made, api.destroy};
}

}  // namespace

LtDescriptors::LtDescriptors(const LtApi& api, const LtPlan& plan, LtSums sums,
                             const LtPointers& pointers)
    : operation_(make_operation(api, plan, sums)),
      first_(make_layout(api, plan.first, plan.batch)),
      second_(make_layout(api, plan.second, plan.batch)),
      result_(make_layout(api, plan.result, plan.batch)),
      preference_(make_preference(api, plan, pointers)) {}

LtProduct::LtProduct(const LtApi& api, const LtPlan& plan, LtSums sums, const LtPointers& pointers,
                     int wanted)
    : api_(api),
      plan_(plan),
      pointers_(pointers),
      descriptors_(api, plan, sums, pointers),
      handle_(make_handle(api)) {
  std::vector<LtHeuristic> all(static_cast<std::size_t>(wanted));
  int count = 0;
  KILN_LT(api, find_algorithms, handle_.get(), descriptors_.operation(), descriptors_.first(),
          descriptors_.second(), descriptors_.result(), descriptors_.result(),
          descriptors_.preference(), wanted, all.data(), &count);
  all.resize(static_cast<std::size_t>(count));
  for (const LtHeuristic& heuristic : all) {
    if (heuristic.status == number(LtStatus::success)) found_.push_back(heuristic);
  }
  if (found_.empty()) throw std::runtime_error("the heuristic found no algorithm");
}

std::string LtProduct::describe(int index) const {
  const auto get = [&](LtAlgorithmAttribute attribute, std::size_t bytes) {
    std::int32_t value = 0;
    std::size_t written = 0;
    const LtAlgorithm& algorithm = found_[static_cast<std::size_t>(index)].algorithm;
    const int status = api_.algorithm_get(&algorithm, number(attribute), &value, bytes, &written);
    return status == number(LtStatus::success) ? fmt::format("{}", value) : std::string("?");
  };
  return fmt::format("id {}, tile {}, stages {}, splits {}, cluster {}",
                     get(LtAlgorithmAttribute::id, 4), get(LtAlgorithmAttribute::tile, 4),
                     get(LtAlgorithmAttribute::stages, 4), get(LtAlgorithmAttribute::splits, 4),
                     get(LtAlgorithmAttribute::cluster, 2));
}

void LtProduct::run(int index, double alpha, double beta, void* stream) const {
  const Scalar alpha_value = scalar_of(plan_.scalar_type, alpha);
  const Scalar beta_value = scalar_of(plan_.scalar_type, beta);
  KILN_LT(api_, multiply, handle_.get(), descriptors_.operation(), &alpha_value, pointers_.first,
          descriptors_.first(), pointers_.second, descriptors_.second(), &beta_value,
          pointers_.result, descriptors_.result(), pointers_.result, descriptors_.result(),
          &found_[static_cast<std::size_t>(index)].algorithm, pointers_.workspace,
          pointers_.workspace_bytes, stream);
}

}  // namespace kiln::peers
