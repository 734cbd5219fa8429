// Interception: the call of a program, and the library that it meant.
//
// libkiln_blas.so stands in front of cuBLAS: the loader binds the program's calls to it. The real
// functions are those of the cuBLAS that the caller itself was linked with. Programs may load it
// locally, and may have two releases of it, so a search of the global names is not enough: the
// names of the libraries that the calling object needs decide.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/cublas/cublas_api.hpp"

namespace kiln::blas {

/// The functions of one loaded library, cuBLAS or cublasLt. Null: it has no such function. Never
/// freed: a program does not unload the library that it calls.
struct RealLibrary {
  std::string path;
  std::string release;               ///< "cublas 13.1.0"
  std::uint32_t release_number = 0;  ///< equal for equal releases; 0: not known

  // cuBLAS.
  cublas::Gemm<float, int>* sgemm = nullptr;
  cublas::Gemm<double, int>* dgemm = nullptr;
  cublas::Gemm<float, std::int64_t>* sgemm_64 = nullptr;
  cublas::Gemm<double, std::int64_t>* dgemm_64 = nullptr;
  cublas::GemmStrided<float, int>* sgemm_strided = nullptr;
  cublas::GemmStrided<double, int>* dgemm_strided = nullptr;
  cublas::GemmStrided<float, std::int64_t>* sgemm_strided_64 = nullptr;
  cublas::GemmStrided<double, std::int64_t>* dgemm_strided_64 = nullptr;
  cublas::GemmEx<int>* gemm_ex = nullptr;
  cublas::GemmEx<std::int64_t>* gemm_ex_64 = nullptr;
  cublas::GemmStridedEx<int>* gemm_strided_ex = nullptr;
  cublas::GemmStridedEx<std::int64_t>* gemm_strided_ex_64 = nullptr;
  int (*get_stream)(void* handle, void** stream) = nullptr;
  int (*get_pointer_mode)(void* handle, int* mode) = nullptr;
  int (*get_math_mode)(void* handle, int* mode) = nullptr;
  int (*get_sm_count_target)(void* handle, int* count) = nullptr;
  int (*get_property)(int what, int* value) = nullptr;

  // cublasLt.
  cublas::LtMatmul* lt_matmul = nullptr;
  cublas::LtGetAttribute* lt_description = nullptr;
  cublas::LtGetAttribute* lt_layout = nullptr;
};

enum class Family { cublas, cublas_lt };

/// Returns the library of this family that the code at `caller` was linked with; where that does
/// not say, the one that is loaded. nullptr: none is loaded. Any thread; after the first call from
/// one place it takes a few nanoseconds.
[[nodiscard]] const RealLibrary* real_library(Family family, const void* caller) noexcept;

}  // namespace kiln::blas
