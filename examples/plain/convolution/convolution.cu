// out = image convolved with a filter in constant memory: one element per thread and row of a tile.
#include "window.cuh"

constexpr int kRadius = RADIUS;

__constant__ float filter[(2 * kRadius + 1) * (2 * kRadius + 1)];

template <typename T, int BlockX, int BlockY, int Rows, bool Padded>
__global__ void convolve(const T* image, T* out, int width, int height) {
  __shared__ Window<T, BlockY * Rows, BlockX, kRadius, Padded> window;
  const int left = blockIdx.x * BlockX;
  const int top = blockIdx.y * BlockY * Rows;
  window.load(image, width, height, left, top);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const int row = threadIdx.y + r * BlockY;
    T sum = 0;
    for (int v = 0; v <= 2 * kRadius; ++v)
      for (int u = 0; u <= 2 * kRadius; ++u)
        sum += filter[v * (2 * kRadius + 1) + u] * window.values[row + v][threadIdx.x + u];
    if (left + threadIdx.x < width && top + row < height)
      out[(top + row) * width + left + threadIdx.x] = sum;
  }
}
