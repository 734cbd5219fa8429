// Calls cuBLAS, and is loaded by a program that does not: as a Python module does.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

// NOLINTBEGIN(readability-identifier-naming): cuBLAS's names
extern "C" int cublasSgemm_v2(void* handle, int trans_a, int trans_b, int m, int n, int k,
                              const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc);
extern "C" int stand_in_calls();
// NOLINTEND(readability-identifier-naming)

/// Prints the status, the result and how often the library was called.
extern "C" __attribute__((visibility("default"))) void use_cublas() {
  const float a[6] = {1, 2, 3, 4, 5, 6};  // 2 x 3, column-major
  const float b[6] = {1, 0, 2, 1, 1, 3};  // 3 x 2
  float c[6] = {10, 10, -1, 10, 10, -1};  // 2 x 2 in columns of 3
  const float alpha = 2;
  const float beta = 0.5F;
  int handle = 0;
  const int status = cublasSgemm_v2(&handle, 0, 0, 2, 2, 3, &alpha, a, 2, b, 3, &beta, c, 3);
  const int refused = cublasSgemm_v2(nullptr, 0, 0, 2, 2, 3, &alpha, a, 2, b, 3, &beta, c, 3);
  std::printf("%d %d: %g %g %g %g %g %g; %d calls\n", status, refused, c[0], c[1], c[2], c[3], c[4],
              c[5], stand_in_calls());
}
