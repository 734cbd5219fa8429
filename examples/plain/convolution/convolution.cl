// out = image convolved with a filter in constant memory: one element per work-item and row of a
// tile. The macros are what the C++ source takes as template arguments.
#define FILTER (2 * RADIUS + 1)

__kernel void convolve(__global const float* image, __constant float* filter, __global float* out,
                       int width, int height) {
  __local float window[BLOCK_Y * ROWS + 2 * RADIUS][BLOCK_X + 2 * RADIUS + PADDED];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int left = get_group_id(0) * BLOCK_X;
  const int top = get_group_id(1) * BLOCK_Y * ROWS;
  const int columns = BLOCK_X + 2 * RADIUS;
  for (int i = y * BLOCK_X + x; i < columns * (BLOCK_Y * ROWS + 2 * RADIUS);
       i += BLOCK_X * BLOCK_Y) {
    const int column = left - RADIUS + i % columns;
    const int row = top - RADIUS + i / columns;
    const int inside = column >= 0 && column < width && row >= 0 && row < height;
    window[i / columns][i % columns] = inside ? image[row * width + column] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < ROWS; ++r) {
    const int row = y + r * BLOCK_Y;
    float sum = 0.0f;
    for (int v = 0; v < FILTER; ++v)
      for (int u = 0; u < FILTER; ++u) sum += filter[v * FILTER + u] * window[row + v][x + u];
    if (left + x < width && top + row < height) out[(top + row) * width + left + x] = sum;
  }
}
