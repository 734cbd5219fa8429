// sm_90a, gfx90a, opencl: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// naive:block_x=32,block_y=8

// matmul, naive: one thread computes one element of C.
//
//                  n
//              +-------+
//            k | op(B) |        for r < m, c < n:
//              |   |   |          sum = 0
//        k     +---|---+          for i < k: sum += op(A)[r][i] * op(B)[i][c]
//    +-------+ +---|---+          C[r][c] = finish(sum)
//  m | ----- | |   x   |
//    +-------+ +-------+        op(A)[r][i] = A[r][i],  op(B)[i][c] = B[i][c]
//
// Limit: two loads for every multiplication; the caches are asked for each element n (or m) times.
enum {
  BLOCK_N = 32,  // columns of C per block
  BLOCK_M = 8,  // rows of C per block
};

//= matmul/mfma.hip, "// What an element of C is made from, beside its" to "}" (2)

KERNEL(32, 8, 1) matmul_naive(
//= matmul/tiled.cu, "GLOBAL const f16_t* RESTRICT a,  // [m][lda]" to "i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, "
  const int blocks_n = (n - 1) / BLOCK_N + 1;
  const int row = BLOCK_X / blocks_n * BLOCK_M + THREAD_Y;
  const int col = BLOCK_X % blocks_n * BLOCK_N + THREAD_X;
  if (row >= m || col >= n) return;

  f32 sum = 0;
  for (int i = 0; i < k; ++i) {
    const f32 x = F16_TO_F32(a[(i64)row * lda + i]);
    const f32 y = F16_TO_F32(b[(i64)i * ldb + col]);
    sum = FMA(x, y, sum);
  }
  const i64 at = (i64)row * ldc + col;
  const epilogue_t epilogue = {alpha, beta, 0};
  c[at] = F32_TO_F16(finish(sum, 0, 0, epilogue));
}
