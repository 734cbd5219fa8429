// c[i] = a[i] + b[i]: the first kernel of every course, with macros for its parameters.
#include <cuda_runtime.h>

#define BLOCK_SIZE 256
#define ITEMS 1  // elements per thread

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    vector_add(const float* a, const float* b, float* c, int n) {
  int first = blockIdx.x * (BLOCK_SIZE * ITEMS) + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    int i = first + item * BLOCK_SIZE;
    if (i < n) c[i] = a[i] + b[i];
  }
}
