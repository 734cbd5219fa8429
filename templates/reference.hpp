// CPU references: plain loops that say what a kernel computes, slowly and precisely.
//
// The tuner checks every config against them. A loop gets the inputs as the device sees them
// (already rounded to their element type) and gives its outputs in f64 (or i64 where the output's
// element type is an integer), so that the comparison sees the device's rounding and no other. The
// loops of the built-in kernels live beside their templates
// (templates/kernels/<name>/reference.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln {

/// A dense array in host memory, elements in row-major order of `shape` (outermost first).
struct HostArray {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;  ///< count() * size_of(dtype) bytes

  HostArray() = default;
  /// Zero-filled array of this shape.
  HostArray(DType type, std::vector<std::int64_t> extents);

  [[nodiscard]] std::size_t count() const;

  /// Element `index` as f64; 64-bit integers beyond 2^53 round (use elements<std::int64_t>() for
  /// those).
  [[nodiscard]] double get(std::size_t index) const;

  /// Stores `value` rounded to the nearest element (ties to even). Beyond the range, integers wrap
  /// like a C cast of the value's 64-bit integer, floating-point types give infinity, and the 8-bit
  /// floats give their largest number (templates/small_floats.hpp).
  void set(std::size_t index, double value);

  /// The elements as an array of T, which must have the element's size; nothing is converted.
  template <typename T>
  [[nodiscard]] T* elements() {
    return reinterpret_cast<T*>(data.data());
  }
  template <typename T>
  [[nodiscard]] const T* elements() const {
    return reinterpret_cast<const T*>(data.data());
  }
};

/// What one call of a reference sees. `arrays` maps argument names to their arrays:
/// - `read` arguments: the inputs in their own element type;
/// - `write` arguments: outputs for the reference to fill. The caller allocates them with the
///   argument's shape, zeros, and the element type f64 (i64 for integer arguments);
/// - `read_write` arguments: as outputs, holding the values before the call.
/// `scalars` holds every scalar argument that exists for this problem.
struct ReferenceCall {
  const Problem& problem;
  std::map<std::string, HostArray>& arrays;
  const std::map<std::string, double>& scalars;
};

using ReferenceFunction = void (*)(ReferenceCall& call);

/// The loop that a spec names as `reference`; nullptr when there is none of that name.
[[nodiscard]] ReferenceFunction find_reference(std::string_view name);

/// All of them, by the folder of templates/kernels/ whose reference.cpp defines them.
[[nodiscard]] const std::map<std::string, ReferenceFunction, std::less<>>& references_by_folder();

/// The element type in which a reference gives an output of type `dtype`: f64, or i64 for integers.
[[nodiscard]] DType reference_dtype(DType dtype);

/// Which elements of the output `name` of this shape the kernel writes, by `[verify] written`;
/// empty: all. Throws InputError when the expression cannot be evaluated.
[[nodiscard]] std::vector<bool> written_elements(const KernelSpec& spec, const ReferenceCall& call,
                                                 const std::string& name,
                                                 const std::vector<std::int64_t>& shape);

/// The elements of an input that the spec computes (`elements` or `elements_verify` of the
/// argument): expression `i % elements.size()` at flat index `i`. `scope` as for the argument's
/// shape. Throws InputError when an expression gives no number, when their count is neither one nor
/// the innermost extent, or when there are more than some million elements.
[[nodiscard]] HostArray computed_elements(const std::vector<Expression>& elements, DType dtype,
                                          const std::vector<std::int64_t>& shape,
                                          const Scope& scope);

/// Fills the outputs of an elementwise kernel by [verify.formulas]: output[i] = formula over the
/// inputs' elements i (before the call, for read_write arguments), the scalars and the problem.
/// Inputs of one element are seen by every i. Throws InputError when a formula cannot be evaluated.
void evaluate_formulas(const KernelSpec& spec, ReferenceCall& call);

}  // namespace kiln
