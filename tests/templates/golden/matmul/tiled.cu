// sm_90a, gfx90a, opencl: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// tiled:tile=16,rows_per_thread=1,wide=false

// matmul, tiled: a block computes a square of C from squares of op(A) and op(B) in shared memory.
//
//                       k         n
//                             +---+---+
//                             |   | b |      for each square of C, rows r and columns c:
//          tile_b [TILE][TILE]+---+---+        for each step of TILE along k:
//                             |   | b |          tile_a = op(A)[r][k0 ..],  tile_b = op(B)[k0 ..][c]
//                +---+---+    +---+---+          for i < TILE: sum += tile_a[r][i] * tile_b[i][c]
//   tile_a     m | a | a |    |   | C |        C[r][c] = finish(sum)
//   [TILE][TILE] +---+---+    +---+---+
//
// Limit attacked: traffic from global memory, now a 16th. What remains are two loads from shared memory
// per multiplication.

enum {
  TILE = 16,          // rows and columns of the tiles
  ROWS = 1,          // elements of C per thread, THREADS_Y rows apart
  THREADS_Y = 16,
};

//= matmul/mfma.hip, "// What an element of C is made from, beside its" to "}" (2)

KERNEL(16, 16, 1) matmul_tiled(
    GLOBAL const f16_t* RESTRICT a,  // [m][lda]
    GLOBAL const f16_t* RESTRICT b,  // [k][ldb]
    GLOBAL f16_t* RESTRICT c,        // [m][ldc]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, f32 alpha, f32 beta) {
  SHARED f32 tile_a[TILE * TILE];  // op(A): [row][k]
  SHARED f32 tile_b[TILE * TILE];  // op(B): [k][column]

  const int tiles_n = (n - 1) / TILE + 1;
  const int row0 = BLOCK_X / tiles_n * TILE;
  const int col = BLOCK_X % tiles_n * TILE + THREAD_X;

  f32 sum[ROWS];
  UNROLL
  for (int i = 0; i < ROWS; ++i) sum[i] = 0;

  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Global memory -> shared memory; zeros beyond the edges add nothing.
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      const int y = THREAD_Y + i * THREADS_Y;
      const int row = row0 + y;
      const int ka = k0 + THREAD_X;
      const int kb = k0 + y;
      tile_a[y * TILE + THREAD_X] = row < m && ka < k ? F16_TO_F32(a[(i64)row * lda + ka]) : 0;
      tile_b[y * TILE + THREAD_X] = kb < k && col < n ? F16_TO_F32(b[(i64)kb * ldb + col]) : 0;
    }
    BARRIER();  // both tiles are there

    // Shared memory -> registers.
    UNROLL
    for (int j = 0; j < TILE; ++j) {
      UNROLL
      for (int i = 0; i < ROWS; ++i) {
        sum[i] = FMA(tile_a[(THREAD_Y + i * THREADS_Y) * TILE + j], tile_b[j * TILE + THREAD_X], sum[i]);
      }
    }
    BARRIER();  // nobody needs the tiles any more
  }

  const epilogue_t epilogue = {alpha, beta, 0};
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    const int row = row0 + THREAD_Y + i * THREADS_Y;
    if (row >= m || col >= n) continue;
    const i64 at = (i64)row * ldc + col;
    c[at] = F32_TO_F16(finish(sum[i], 0, 0, epilogue));
  }
}
