// The part of an image that a block of a convolution works on, in shared memory.
#pragma once

// A tile of the image with `Radius` elements around it, and one column of padding if asked.
template <typename T, int Rows, int Columns, int Radius, bool Padded>
struct Window {
  static constexpr int kRows = Rows + 2 * Radius;
  static constexpr int kColumns = Columns + 2 * Radius;
  T values[kRows][kColumns + (Padded ? 1 : 0)];

  // Fills the window by all threads of the block; elements outside the image are 0.
  __device__ void load(const T* image, int width, int height, int left, int top) {
    const int threads = blockDim.x * blockDim.y;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < kRows * kColumns; i += threads) {
      const int x = left - Radius + i % kColumns;
      const int y = top - Radius + i / kColumns;
      const bool inside = x >= 0 && x < width && y >= 0 && y < height;
      values[i / kColumns][i % kColumns] = inside ? image[y * width + x] : T(0);
    }
  }
};
