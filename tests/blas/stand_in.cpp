// A library with the name and the version of cuBLAS 13 and two of its functions, which compute on
// the CPU: what a call that is forwarded reaches. It stands for nothing else of cuBLAS.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

namespace {
int calls = 0;
}

// NOLINTBEGIN(readability-identifier-naming): cuBLAS's names
#define KILN_SHOWN extern "C" __attribute__((visibility("default"))) int

KILN_SHOWN cublasSgemm_v2(void* handle, int trans_a, int trans_b, int m, int n, int k,
                          const float* alpha, const float* a, int lda, const float* b, int ldb,
                          const float* beta, float* c, int ldc) {
  ++calls;
  if (handle == nullptr) return 1;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[trans_a != 0 ? l + i * lda : i + l * lda] *
               b[trans_b != 0 ? j + l * ldb : l + j * ldb];
      c[i + j * ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * ldc]);
    }
  }
  return 0;
}
KILN_SHOWN cublasGetMathMode(void*, int* mode) { return *mode = 0, 0; }
KILN_SHOWN cublasGetPointerMode_v2(void*, int* mode) { return *mode = 0, 0; }
KILN_SHOWN cublasGetStream_v2(void*, void** stream) { return *stream = nullptr, 0; }
KILN_SHOWN cublasGetProperty(int what, int* value) { return *value = what == 0 ? 13 : 0, 0; }
KILN_SHOWN stand_in_calls() { return calls; }
// NOLINTEND(readability-identifier-naming)
