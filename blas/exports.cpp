// The functions that stand in front of cuBLAS. Each reads the call and serves it; what cannot be
// read goes to the library as it came.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "blas/attach.hpp"
#include "blas/product_call.hpp"
#include "blas/settings.hpp"
#include "blas/takeover.hpp"

namespace kiln::blas {
namespace {

/// cuBLAS calls its own functions, which come by here when they are exported. Only the program's
/// call counts.
thread_local int depth = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

class Depth {
 public:
  Depth() { ++depth; }
  ~Depth() { --depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
};

template <typename Call>
class ForwardCall final : public Forward {
 public:
  explicit ForwardCall(const Call& call) : call_(call) {}
  int operator()() override { return call_(); }

 private:
  const Call& call_;
};

/// `read()` returns the call as a product, `forward()` calls the library.
template <typename Read, typename Call>
int serve(const RealLibrary& real, const char* function, const Read& read, const Call& forward) {
  if (depth > 0 || settings().is_idle()) return forward();
  const Depth inside;
  Takeover& takeover = Takeover::instance();
  if (takeover.is_idle()) return forward();
  const std::optional<ProductCall> call = read();
  ForwardCall forwarding(forward);
  if (call) return takeover.serve(real, *call, forwarding);
  takeover.count_other(function);
  return forward();
}

int no_library(const char* function) {
  tell(std::string(function) + ": no cuBLAS is loaded");
  return cublas::kNotInitialized;
}

template <typename Real>
constexpr int kTypeOf = sizeof(Real) == sizeof(float) ? cublas::kF32 : cublas::kF64;

template <typename Real, typename Size>
int gemm(const char* function, const void* caller, cublas::Gemm<Real, Size>* RealLibrary::*member,
         void* handle, int trans_a, int trans_b, Size m, Size n, Size k, const Real* alpha,
         const Real* a, Size lda, const Real* b, Size ldb, const Real* beta, Real* c, Size ldc) {
  const RealLibrary* real = real_library(Family::cublas, caller);
  if (real == nullptr || real->*member == nullptr) return no_library(function);
  return serve(
      *real, function,
      [&] {
        constexpr int kType = kTypeOf<Real>;
        return read_gemm(
            *real, {function, handle, trans_a, trans_b, m,   n,   k, alpha, beta, a, b,           c,
                    kType,    kType,  kType,   lda,     ldb, ldc, 1, 0,     0,    0, std::nullopt});
      },
      [&] {
        return (real->*member)(handle, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                               ldc);
      });
}

template <typename Real, typename Size>
int gemm_strided(const char* function, const void* caller,
                 cublas::GemmStrided<Real, Size>* RealLibrary::*member, void* handle, int trans_a,
                 int trans_b, Size m, Size n, Size k, const Real* alpha, const Real* a, Size lda,
                 long long stride_a, const Real* b, Size ldb, long long stride_b, const Real* beta,
                 Real* c, Size ldc, long long stride_c, Size batch) {
  const RealLibrary* real = real_library(Family::cublas, caller);
  if (real == nullptr || real->*member == nullptr) return no_library(function);
  return serve(
      *real, function,
      [&] {
        constexpr int kType = kTypeOf<Real>;
        return read_gemm(
            *real, {function, handle, trans_a, trans_b,  m,        n,        k,           alpha,
                    beta,     a,      b,       c,        kType,    kType,    kType,       lda,
                    ldb,      ldc,    batch,   stride_a, stride_b, stride_c, std::nullopt});
      },
      [&] {
        return (real->*member)(handle, trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb,
                               stride_b, beta, c, ldc, stride_c, batch);
      });
}

template <typename Size>
int gemm_ex(const char* function, const void* caller, cublas::GemmEx<Size>* RealLibrary::*member,
            void* handle, int trans_a, int trans_b, Size m, Size n, Size k, const void* alpha,
            const void* a, int type_a, Size lda, const void* b, int type_b, Size ldb,
            const void* beta, void* c, int type_c, Size ldc, int compute, int algorithm) {
  const RealLibrary* real = real_library(Family::cublas, caller);
  if (real == nullptr || real->*member == nullptr) return no_library(function);
  return serve(
      *real, function,
      [&] {
        return read_gemm(
            *real, {function, handle, trans_a, trans_b, m,   n,   k, alpha, beta, a, b,      c,
                    type_a,   type_b, type_c,  lda,     ldb, ldc, 1, 0,     0,    0, compute});
      },
      [&] {
        return (real->*member)(handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, b, type_b,
                               ldb, beta, c, type_c, ldc, compute, algorithm);
      });
}

template <typename Size>
int gemm_strided_ex(const char* function, const void* caller,
                    cublas::GemmStridedEx<Size>* RealLibrary::*member, void* handle, int trans_a,
                    int trans_b, Size m, Size n, Size k, const void* alpha, const void* a,
                    int type_a, Size lda, long long stride_a, const void* b, int type_b, Size ldb,
                    long long stride_b, const void* beta, void* c, int type_c, Size ldc,
                    long long stride_c, Size batch, int compute, int algorithm) {
  const RealLibrary* real = real_library(Family::cublas, caller);
  if (real == nullptr || real->*member == nullptr) return no_library(function);
  return serve(
      *real, function,
      [&] {
        return read_gemm(*real,
                         {function, handle, trans_a, trans_b,  m,        n,        k,      alpha,
                          beta,     a,      b,       c,        type_a,   type_b,   type_c, lda,
                          ldb,      ldc,    batch,   stride_a, stride_b, stride_c, compute});
      },
      [&] {
        return (real->*member)(handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, stride_a,
                               b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batch,
                               compute, algorithm);
      });
}

}  // namespace
}  // namespace kiln::blas

// NOLINTBEGIN(readability-identifier-naming): the names are cuBLAS's
#define KILN_BLAS_EXPORT extern "C" __attribute__((visibility("default"))) int
#define KILN_CALLER __builtin_return_address(0)

#define KILN_GEMM(name, member, Real, Size)                                                       \
  KILN_BLAS_EXPORT name(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,           \
                        const Real* alpha, const Real* a, Size lda, const Real* b, Size ldb,      \
                        const Real* beta, Real* c, Size ldc) {                                    \
    return kiln::blas::gemm<Real, Size>(#name, KILN_CALLER, &kiln::blas::RealLibrary::member,     \
                                        handle, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, \
                                        beta, c, ldc);                                            \
  }
#define KILN_GEMM_STRIDED(name, member, Real, Size)                                              \
  KILN_BLAS_EXPORT name(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,          \
                        const Real* alpha, const Real* a, Size lda, long long stride_a,          \
                        const Real* b, Size ldb, long long stride_b, const Real* beta, Real* c,  \
                        Size ldc, long long stride_c, Size batch) {                              \
    return kiln::blas::gemm_strided<Real, Size>(                                                 \
        #name, KILN_CALLER, &kiln::blas::RealLibrary::member, handle, trans_a, trans_b, m, n, k, \
        alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);               \
  }
#define KILN_GEMM_EX(name, member, Size)                                                           \
  KILN_BLAS_EXPORT name(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,            \
                        const void* alpha, const void* a, int type_a, Size lda, const void* b,     \
                        int type_b, Size ldb, const void* beta, void* c, int type_c, Size ldc,     \
                        int compute, int algorithm) {                                              \
    return kiln::blas::gemm_ex<Size>(#name, KILN_CALLER, &kiln::blas::RealLibrary::member, handle, \
                                     trans_a, trans_b, m, n, k, alpha, a, type_a, lda, b, type_b,  \
                                     ldb, beta, c, type_c, ldc, compute, algorithm);               \
  }
#define KILN_GEMM_STRIDED_EX(name, member, Size)                                                   \
  KILN_BLAS_EXPORT name(void* handle, int trans_a, int trans_b, Size m, Size n, Size k,            \
                        const void* alpha, const void* a, int type_a, Size lda,                    \
                        long long stride_a, const void* b, int type_b, Size ldb,                   \
                        long long stride_b, const void* beta, void* c, int type_c, Size ldc,       \
                        long long stride_c, Size batch, int compute, int algorithm) {              \
    return kiln::blas::gemm_strided_ex<Size>(#name, KILN_CALLER, &kiln::blas::RealLibrary::member, \
                                             handle, trans_a, trans_b, m, n, k, alpha, a, type_a,  \
                                             lda, stride_a, b, type_b, ldb, stride_b, beta, c,     \
                                             type_c, ldc, stride_c, batch, compute, algorithm);    \
  }

/// Whether products are taken over in this process from now on: 0 no, else yes. Returns what it was
/// before. For programs that compare, and for whoever must not have it for a while. Any thread.
KILN_BLAS_EXPORT kiln_blas_enable(int enabled) {
  return kiln::blas::Takeover::instance().enable(enabled != 0) ? 1 : 0;
}

KILN_GEMM(cublasSgemm_v2, sgemm, float, int)
KILN_GEMM(cublasDgemm_v2, dgemm, double, int)
KILN_GEMM(cublasSgemm_v2_64, sgemm_64, float, std::int64_t)
KILN_GEMM(cublasDgemm_v2_64, dgemm_64, double, std::int64_t)
KILN_GEMM_STRIDED(cublasSgemmStridedBatched, sgemm_strided, float, int)
KILN_GEMM_STRIDED(cublasDgemmStridedBatched, dgemm_strided, double, int)
KILN_GEMM_STRIDED(cublasSgemmStridedBatched_64, sgemm_strided_64, float, std::int64_t)
KILN_GEMM_STRIDED(cublasDgemmStridedBatched_64, dgemm_strided_64, double, std::int64_t)
KILN_GEMM_EX(cublasGemmEx, gemm_ex, int)
KILN_GEMM_EX(cublasGemmEx_64, gemm_ex_64, std::int64_t)
KILN_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, gemm_strided_ex, int)
KILN_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, gemm_strided_ex_64, std::int64_t)

KILN_BLAS_EXPORT cublasLtMatmul(void* handle, void* description, const void* alpha, const void* a,
                                void* layout_a, const void* b, void* layout_b, const void* beta,
                                const void* c, void* layout_c, void* d, void* layout_d,
                                const kiln::cublas::LtAlgorithm* algorithm, void* workspace,
                                std::size_t workspace_bytes, void* stream) {
  using namespace kiln::blas;  // NOLINT(google-build-using-namespace)
  const RealLibrary* real = real_library(Family::cublas_lt, KILN_CALLER);
  if (real == nullptr || real->lt_matmul == nullptr) return no_library("cublasLtMatmul");
  return serve(
      *real, "cublasLtMatmul",
      [&] {
        return read_lt(*real, {description, alpha, beta, a, b, c, d, layout_a, layout_b, layout_c,
                               layout_d, stream});
      },
      [&] {
        return real->lt_matmul(handle, description, alpha, a, layout_a, b, layout_b, beta, c,
                               layout_c, d, layout_d, algorithm, workspace, workspace_bytes,
                               stream);
      });
}

/// Stands in front of cuBLAS in a process that was started without: rewrites the calls of every
/// library that is loaded by now. Returns how many places call it; 0: none does. Any thread.
KILN_BLAS_EXPORT kiln_blas_attach() {
#define KILN_REPLACE(name) \
  kiln::blas::Replacement { #name, reinterpret_cast < void*>(&name) }
  const std::array replacements = {
      KILN_REPLACE(cublasSgemm_v2),
      KILN_REPLACE(cublasDgemm_v2),
      KILN_REPLACE(cublasSgemm_v2_64),
      KILN_REPLACE(cublasDgemm_v2_64),
      KILN_REPLACE(cublasSgemmStridedBatched),
      KILN_REPLACE(cublasDgemmStridedBatched),
      KILN_REPLACE(cublasSgemmStridedBatched_64),
      KILN_REPLACE(cublasDgemmStridedBatched_64),
      KILN_REPLACE(cublasGemmEx),
      KILN_REPLACE(cublasGemmEx_64),
      KILN_REPLACE(cublasGemmStridedBatchedEx),
      KILN_REPLACE(cublasGemmStridedBatchedEx_64),
      KILN_REPLACE(cublasLtMatmul),
  };
#undef KILN_REPLACE
  if (kiln::blas::settings().is_idle()) return 0;
  return kiln::blas::attach(replacements);
}
// NOLINTEND(readability-identifier-naming)
