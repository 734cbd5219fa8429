// sm_90a: m=1024 n=1024 k=1024 dtype=f32 out=f32 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// register:tile_m=64,tile_n=64,tile_k=16,micro_m=4,micro_n=4,lanes_m=4,load_vector=2,layout=swizzled,buffers=2,unroll_k=8,blocks_per_unit=1,raster=8

// matmul, register: a block computes TILE_M x TILE_N of C, each thread MICRO_M x MICRO_N of it in registers.
//
//                                    TILE_N                one thread of the block:
//                               +-------------+
//                        TILE_K |   tile_b    |               b: MICRO_N, in runs of RUN_N, STRIPE_N apart
//                               +-------------+               | . . |     | . . |
//            TILE_K             +-------------+         a: -  +-----+     +-----+
//           +------+            |  .   .      |            .  | sum |     | sum |    for i < k:
//    TILE_M |tile_a|            |  .   .      |  <=        .  +-----+     +-----+      for r < MICRO_M, c < MICRO_N:
//           |      |            |             |         -                                sum[r][c] += a[r] * b[c]
//           +------+            +-------------+            .  +-----+     +-----+
//                                      C                   .  | sum |     | sum |
//
//   global memory -> registers (the next tiles) -> shared memory -> registers (a, b) -> multiplications
//
// Both tiles lie with k outermost, so that a thread reads runs of a and b as vectors.
// An operand that comes along k is written across the rows of its tile: an XOR spreads these writes over the banks.
// Limit attacked: loads from shared memory, 8 values for 16 multiplications.

enum {
  TILE_M = 64,
  TILE_N = 64,
  TILE_K = 16,
  MICRO_M = 4,
  MICRO_N = 4,
  THREADS_M = TILE_M / MICRO_M,  // 16
  THREADS_N = TILE_N / MICRO_N,  // 16
  THREADS = THREADS_M * THREADS_N,  // 256
  LANES_M = 4,  // 32 neighbouring threads cover LANES_M x LANES_N of the block's threads
  LANES_N = 32 / LANES_M,
  RUN_M = 4,  // neighbouring values in one vector from shared memory
  RUN_N = 4,
  STRIPE_M = THREADS_M * RUN_M,  // rows from one run of a thread to the next
  STRIPE_N = THREADS_N * RUN_N,
  LOAD = 2,   // elements in one load from global memory
  WORDS = 2,  // 32-bit words that hold them
  ROW_A = TILE_K / LOAD,  // loads per stored row of a tile of A
  ROW_B = TILE_N / LOAD,
  LOADS_A = TILE_M * TILE_K / (THREADS * LOAD),  // loads per thread and tile
  LOADS_B = TILE_N * TILE_K / (THREADS * LOAD),
  PITCH_A = TILE_M,  // elements from one step of k to the next in tile_a
  PITCH_B = TILE_N,
  STAGE = TILE_K * (PITCH_A + PITCH_B),  // elements of both tiles
  UNROLL_K = 8,
  RASTER = 8,
};

typedef u32 element_t;  // bits of an element of A, B and C
typedef f32 real_t;  // what is multiplied and added

// Bits i of the real_t values of the elements in `words`.
DEVICE_FUNCTION u32 real_word(const u32* words, int i) {
  return words[i];
}

// Where tile_a keeps element (kk, row).
DEVICE_FUNCTION int place_a(int kk, int row) {
  return kk * PITCH_A + (row ^ (kk / LOAD * 4 & (STRIPE_M - 1)));
}

// Global memory -> registers: this thread's share of a TILE_M x TILE_K tile of op(A), read along k. `from` is its
// first vector; rows_left and k_left are counted from there, and beyond them come zeros. `whole`: nothing is beyond.
DEVICE_FUNCTION void fetch_a(GLOBAL const element_t* RESTRICT from, i32 ld, int rows_left, int k_left, int whole,
//= matmul/mfma.hip, "u32 held[LOADS_A][WORDS]) {" to "for (int i = 0; i < LOADS_A; ++i) {"
      GLOBAL const element_t* vector = from + (i64)(i * THREADS / ROW_A) * ld;
      const u32x2 v = LOAD_8(vector);
      held[i][0] = v.x, held[i][1] = v.y;
    }
//= matmul/mfma.hip, "return;" to "for (int i = 0; i < LOADS_A; ++i) {"
    const int down = i * THREADS / ROW_A;
    const int inside = down < rows_left ? k_left : 0;  // elements from here on
    GLOBAL const element_t* vector = from + (i64)down * ld;
    UNROLL
    for (int j = 0; j < LOAD; ++j) {
      held[i][j] = LOAD_4_IF(j < inside, vector + j);
    }
  }
}

// Registers -> shared memory, as real_t.
DEVICE_FUNCTION void keep_a(u32 held[LOADS_A][WORDS], SHARED_PTR real_t* tile_a) {
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    const int id = THREAD_X + i * THREADS;
    const int row = id / ROW_A;
    const int kk = id % ROW_A * LOAD;
    UNROLL
    for (int j = 0; j < LOAD; ++j) {
      tile_a[place_a(kk + j, row)] = BITS_TO_F32(real_word(held[i], j));
    }
  }
}

// Where tile_b keeps element (kk, col).
DEVICE_FUNCTION int place_b(int kk, int col) {
  return kk * PITCH_B + col;
}

// Global memory -> registers: this thread's share of a TILE_N x TILE_K tile of op(B), read along cols. `from` is its
// first vector; cols_left and k_left are counted from there, and beyond them come zeros. `whole`: nothing is beyond.
DEVICE_FUNCTION void fetch_b(GLOBAL const element_t* RESTRICT from, i32 ld, int cols_left, int k_left, int whole,
//= matmul/mfma.hip, "u32 held[LOADS_B][WORDS]) {" to "for (int i = 0; i < LOADS_B; ++i) {"
      GLOBAL const element_t* vector = from + (i64)(i * THREADS / ROW_B) * ld + i * THREADS % ROW_B * LOAD;
//= matmul/register.cu, "const u32x2 v = LOAD_8(vector);" to "UNROLL"
  for (int i = 0; i < LOADS_B; ++i) {
    const int down = i * THREADS / ROW_B;
    const int across = i * THREADS % ROW_B * LOAD;
    const int inside = down < k_left ? cols_left - across : 0;  // elements from here on
    GLOBAL const element_t* vector = from + (i64)down * ld + across;
//= matmul/register.cu, "UNROLL" (4) to "// Registers -> shared memory, as real_t."
DEVICE_FUNCTION void keep_b(u32 held[LOADS_B][WORDS], SHARED_PTR real_t* tile_b) {
  UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    const int id = THREAD_X + i * THREADS;
    const int kk = id / ROW_B;
    const int col = id % ROW_B * LOAD;
    SHARED_PTR real_t* to = tile_b + place_b(kk, col);
    SHARED_STORE_8(to, U32X2(real_word(held[i], 0), real_word(held[i], 1)));
  }
}

// Shared memory -> registers: a run of 4.
DEVICE_FUNCTION void read_4(SHARED_PTR const real_t* from, real_t* value) {
  const u32x4 v = SHARED_LOAD_16(from);
  value[0] = BITS_TO_F32(v.x), value[1] = BITS_TO_F32(v.y), value[2] = BITS_TO_F32(v.z), value[3] = BITS_TO_F32(v.w);
}

// sum += tile_a * tile_b, for the rows from `row` and the columns from `col` on.
DEVICE_FUNCTION void multiply(SHARED_PTR const real_t* tile_a, SHARED_PTR const real_t* tile_b, int row, int col,
                              real_t sum[MICRO_M][MICRO_N]) {
  NO_UNROLL
  for (int k0 = 0; k0 < TILE_K; k0 += UNROLL_K) {
    UNROLL
    for (int kk = 0; kk < UNROLL_K; ++kk) {
      real_t a[MICRO_M];
      real_t b[MICRO_N];
      UNROLL
      for (int s = 0; s < MICRO_M / RUN_M; ++s) read_4(tile_a + place_a(k0 + kk, row) + s * STRIPE_M, a + s * RUN_M);
      UNROLL
      for (int s = 0; s < MICRO_N / RUN_N; ++s) read_4(tile_b + place_b(k0 + kk, col) + s * STRIPE_N, b + s * RUN_N);
      UNROLL
      for (int r = 0; r < MICRO_M; ++r) {
        UNROLL
        for (int c = 0; c < MICRO_N; ++c) sum[r][c] = FMA(a[r], b[c], sum[r][c]);
      }
    }
  }
}

//= matmul/f32_split.cu, "// What an element of C is made from, beside its" to "}" (2)

// Registers -> global memory: a run of C from (row, col) on, of which `inside` elements exist. `aligned`: it may be one vector.
DEVICE_FUNCTION void write_run(GLOBAL f32* c, int inside, int aligned, int row, int col, epilogue_t epilogue, const real_t* sum) {
  f32 value[RUN_N];
  UNROLL
  for (int i = 0; i < RUN_N; ++i) {
    const real_t old = 0;
    value[i] = finish(sum[i], old, 0, epilogue);
  }
  const int whole = aligned && inside >= RUN_N;
  STORE_16_IF(whole, c, U32X4(F32_TO_BITS(value[0]), F32_TO_BITS(value[1]), F32_TO_BITS(value[2]), F32_TO_BITS(value[3])));
  if (whole) inside = 0;
  UNROLL
  for (int i = 0; i < RUN_N; ++i) {
    STORE_4_IF(i < inside, c + i, F32_TO_BITS(value[i]));
  }
}

KERNEL_MIN_BLOCKS(256, 1, 1, 1) matmul_register(
    GLOBAL const element_t* RESTRICT a,  // [m][lda]
    GLOBAL const element_t* RESTRICT b,  // [k][ldb]
    GLOBAL f32* RESTRICT c,  // [m][ldc]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, real_t alpha, real_t beta
    DYNAMIC_SHARED_PARAM(real_t, tiles)) {
  DYNAMIC_SHARED(real_t, tiles);  // [2][tile_a [TILE_K][PITCH_A], tile_b [TILE_K][PITCH_B]]

  // Which tile of C: RASTER rows of tiles are walked column by column, then the next RASTER rows.
  const int tiles_m = (m - 1) / TILE_M + 1;
  const int tiles_n = (n - 1) / TILE_N + 1;
//= convolution/mfma.hip, "const int band = BLOCK_X / (RASTER * tiles_n) * " to "const int col0 = in_band / band_rows * TILE_N;"

  const int k_begin = 0;
  const int k_end = k;

  // Which part of it: 32 neighbours are a patch, so that they share runs of a and of b.
  const int lane = THREAD_X % 32;
  const int patch = THREAD_X / 32;
  const int row = (patch / (THREADS_N / LANES_N) * LANES_M + lane / LANES_N) * RUN_M;  // in tile_a
  const int col = (patch % (THREADS_N / LANES_N) * LANES_N + lane % LANES_N) * RUN_N;  // in tile_b

  // This thread's first vector of each operand, and what is left of the matrices from there.
//= matmul/mfma.hip, "const int rows_left = m - row0 - THREAD_X / ROW_" to "const i64 step_b = (i64)TILE_K * ldb;"

  // Inside the matrices, with rows that begin at multiples of LOAD, tiles are loaded as vectors.
  const int whole_a = row0 + TILE_M <= m && lda % LOAD == 0;
  const int whole_b = col0 + TILE_N <= n && ldb % LOAD == 0;

  u32 held_a[LOADS_A][WORDS];
  u32 held_b[LOADS_B][WORDS];
  real_t sum[MICRO_M][MICRO_N];
  UNROLL
  for (int r = 0; r < MICRO_M; ++r) {
    UNROLL
    for (int j = 0; j < MICRO_N; ++j) sum[r][j] = 0;
  }

  // Each round fetches a tile of both, multiplies those of the round before while the loads are under way, and keeps what came.
  SHARED_PTR real_t* tile_a = tiles;
  SHARED_PTR real_t* tile_b = tiles + TILE_K * PITCH_A;
  int stage = 0;
  int k_left = k_end - k_begin;  // not fetched yet
  NO_UNROLL
  for (int first = 1;; first = 0) {
    const int more = k_left > 0;
    if (more) {
      fetch_a(from_a, lda, rows_left, k_left - a_k, whole_a && k_left >= TILE_K, held_a);
      fetch_b(from_b, ldb, cols_left, k_left - b_k, whole_b && k_left >= TILE_K, held_b);
      from_a += step_a;
      from_b += step_b;
      k_left -= TILE_K;
    }
    if (!first) multiply(tile_a, tile_b, row, col, sum);
    if (!more) break;
    stage = STAGE - stage;
    tile_a = tiles + stage;
    tile_b = tile_a + TILE_K * PITCH_A;
    keep_a(held_a, tile_a);
    keep_b(held_b, tile_b);
    BARRIER();  // the next tiles are there, and nobody needs the current ones any more
  }

  // Registers -> global memory.
  const epilogue_t epilogue = {alpha, beta, 0};
  const int aligned = ldc % RUN_N == 0;
  UNROLL
  for (int r = 0; r < MICRO_M; ++r) {
    const int at_row = row0 + r / RUN_M * STRIPE_M + row + r % RUN_M;
    const int columns = at_row < m ? n - col0 - col : 0;  // of this row, from this thread's first on
    UNROLL
    for (int s = 0; s < MICRO_N / RUN_N; ++s) {
      const int at_col = col0 + s * STRIPE_N + col;
      write_run(c + (i64)at_row * ldc + at_col, columns - s * STRIPE_N, aligned, at_row, at_col, epilogue, sum[r] + s * RUN_N);
    }
  }
}
