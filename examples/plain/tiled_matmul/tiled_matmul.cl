// c = a * b for square matrices, row by row: tiles in local memory, several rows per work-item.
#ifndef TILE
#define TILE 16  // columns of a work-group, and the depth of a step
#endif
#ifndef ROWS
#define ROWS 1  // rows that a work-item computes
#endif

__kernel void tiled_matmul(__global float* c, __global const float* a, __global const float* b,
                           int n) {
  __local float tile_a[TILE * ROWS][TILE];
  __local float tile_b[TILE][TILE];
  int x = get_local_id(0);
  int y = get_local_id(1);
  int column = get_group_id(0) * TILE + x;
  int first_row = get_group_id(1) * (TILE * ROWS) + y;
  float sum[ROWS];
  for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
  for (int step = 0; step < n; step += TILE) {
    for (int r = 0; r < ROWS; ++r) {
      int row = first_row + r * TILE;
      int k = step + x;
      tile_a[r * TILE + y][x] = row < n && k < n ? a[row * n + k] : 0.0f;
    }
    int k = step + y;
    tile_b[y][x] = k < n && column < n ? b[k * n + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i)
      for (int r = 0; r < ROWS; ++r) sum[r] += tile_a[r * TILE + y][i] * tile_b[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < ROWS; ++r) {
    int row = first_row + r * TILE;
    if (row < n && column < n) c[row * n + column] = sum[r];
  }
}
