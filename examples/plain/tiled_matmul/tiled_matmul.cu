// c = a * b for square matrices, row by row: tiles in shared memory, several rows per thread.
#ifndef TILE
#define TILE 16  // columns of a block, and the depth of a step
#endif
#ifndef ROWS
#define ROWS 1  // rows that a thread computes
#endif

__global__ void tiled_matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float tile_a[TILE * ROWS][TILE];
  __shared__ float tile_b[TILE][TILE];
  int column = blockIdx.x * TILE + threadIdx.x;
  int first_row = blockIdx.y * (TILE * ROWS) + threadIdx.y;
  float sum[ROWS] = {0};
  for (int step = 0; step < n; step += TILE) {
    for (int r = 0; r < ROWS; ++r) {
      int row = first_row + r * TILE;
      int k = step + threadIdx.x;
      tile_a[r * TILE + threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0.0f;
    }
    int k = step + threadIdx.y;
    tile_b[threadIdx.y][threadIdx.x] = k < n && column < n ? b[k * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      for (int r = 0; r < ROWS; ++r)
        sum[r] += tile_a[r * TILE + threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  for (int r = 0; r < ROWS; ++r) {
    int row = first_row + r * TILE;
    if (row < n && column < n) c[row * n + column] = sum[r];
  }
}
