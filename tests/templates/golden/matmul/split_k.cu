// sm_90a: m=1024 n=1024 k=1024 dtype=f32 out=f32 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// split_k:splits=4,tile_m=64,tile_n=64,tile_k=16,micro_m=4,micro_n=4,lanes_m=4,load_vector=2,layout=swizzled,buffers=2,unroll_k=8,blocks_per_unit=1,raster=8

// matmul, split_k: a block computes TILE_M x TILE_N of C, each thread MICRO_M x MICRO_N of it in registers.
//
//= matmul/register.cu, "//                                    TILE_N    " to "// An operand that comes along k is written acro"
// C is small and k is long: block (x, s) adds up part s of k, and matmul_combine adds the parts in order.
//= matmul/register.cu, "// Limit attacked: loads from shared memory, 8 v" to "RASTER = 8,"
  SPLITS = 4,
};

//= matmul/register.cu, "typedef u32 element_t;  // bits of an element of" to "}" (25)

// Registers -> global memory: a run of the partial sums, of which `inside` elements exist. `aligned`: it may be one vector.
DEVICE_FUNCTION void write_run(GLOBAL real_t* c, int inside, int aligned, const real_t* sum) {
  const real_t* value = sum;
//= matmul/register.cu, "const int whole = aligned && inside >= RUN_N;" to "}" (2)

KERNEL_MIN_BLOCKS(256, 1, 1, 1) matmul_split_k(
    GLOBAL const element_t* RESTRICT a,  // [m][lda]
    GLOBAL const element_t* RESTRICT b,  // [k][ldb]
    GLOBAL real_t* RESTRICT partial,  // [SPLITS][m][n]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb
//= matmul/register.cu, "DYNAMIC_SHARED_PARAM(real_t, tiles)) {" to "const int col0 = in_band / band_rows * TILE_N;"

  const int k_part = ((k - 1) / (SPLITS * TILE_K) + 1) * TILE_K;  // whole steps, so that no part loses its alignment
  const int k_begin = MIN(BLOCK_Y * k_part, k);
  const int k_end = MIN(k_begin + k_part, k);

//= matmul/register.cu, "// Which part of it: 32 neighbours are a patch, " to "// Registers -> global memory."
  const int aligned = n % RUN_N == 0;
//= matmul/register.cu, "UNROLL" (20) to "const int at_col = col0 + s * STRIPE_N + col;"
      write_run(partial + ((i64)BLOCK_Y * m + at_row) * n + at_col, columns - s * STRIPE_N, aligned, sum[r] + s * RUN_N);
    }
  }
}

// C = finish(sum over s of partial[s]): the parts in their order, so that the result does not vary.
KERNEL(256, 1, 1) matmul_combine(
    GLOBAL const real_t* RESTRICT partial,  // [SPLITS][m][n]
    GLOBAL f32* RESTRICT c,  // [m][ldc]
    i32 m, i32 n, i32 ldc, real_t alpha, real_t beta) {
  const i64 size = (i64)m * n;
  const i64 at = (i64)BLOCK_X * 256 + THREAD_X;
  if (at >= size) return;
  real_t sum = 0;
  UNROLL_N(4)
  for (int s = 0; s < SPLITS; ++s) sum += partial[s * size + at];
  GLOBAL f32* to = c + at / n * ldc + at % n;
  const epilogue_t epilogue = {alpha, beta, 0};
  *to = finish(sum, 0, 0, epilogue);
}
