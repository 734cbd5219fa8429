// sm_90a, gfx90a, opencl: rows=1024 cols=1024 batch=1 dtype=f32
// naive:along=writes,block_x=32,block_y=8

// transpose, naive: one thread moves one element from global memory to global memory.
//
//         cols                    rows
//      +---------+              +------+      for b < batch, r < rows, c < cols:
// rows |    x    |   ==>   cols |      |        out[(b * cols + c) * rows + r] = in[(b * rows + r) * cols + c]
//      |         |              |  x   |
//      +---------+              |      |
//                               +------+
//
// Limit: neighbouring threads walk along the rows of out. On the other side each of them touches
// a memory sector of its own and uses one element of it.

enum {
  BLOCK_ALONG = 32,   // threads along a row of out
  BLOCK_ACROSS = 8,  // rows of it
};

KERNEL(32, 8, 1) transpose_naive(
    GLOBAL const u32* RESTRICT in,  // [batch][rows][cols]
    GLOBAL u32* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch) {
  const int blocks_along = (rows - 1) / BLOCK_ALONG + 1;
  const i64 r = (i64)(BLOCK_X % blocks_along) * BLOCK_ALONG + THREAD_X;
  const i64 c = (i64)(BLOCK_X / blocks_along) * BLOCK_ACROSS + THREAD_Y;
  if (r >= rows || c >= cols) return;
  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    out[(b * cols + c) * rows + r] = in[(b * rows + r) * cols + c];
  }
}
