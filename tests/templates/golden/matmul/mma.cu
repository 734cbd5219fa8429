// sm_90a: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// mma:tile_m=128,tile_n=128,row_bytes=64,warps_m=2,warps_n=2,stages=4,load_bytes=16,ahead=true,splits=1,blocks_per_unit=1,raster=8

// matmul, mma: each warp multiplies fragments of 16 x 16 with the matrix unit, while the next tiles are copied.
//
//                                    TILE_N               a warp: PART_M x PART_N of the tile
//                               +-------------+
//                        TILE_K |   tile_b    |             b: FRAGMENTS_N of 16 columns
//                               +-------------+             |  |  |  |  |
//            TILE_K             +------+------+        a: - +--+--+--+--+
//           +------+            | warp | warp |           - |  |  |  |  |    for each step of FRAGMENT_K along k:
//    TILE_M |tile_a|            |------+------|           - +--+--+--+--+      for i < FRAGMENTS_M, j < FRAGMENTS_N:
//           |      |            | warp | warp |  <=       - |  |  |  |  |        sum[i][j] += a[i] * b[j]
//           +------+            +------+------+           - +--+--+--+--+
//                                      C
//
//   global memory -> (asynchronous copies) shared memory, STAGES tiles -> registers (fragments) -> matrix unit
//
// Tiles lie as their operands do: a fragment of an operand that lies across k is turned while it is loaded.
// Limit attacked: the rate of multiply-adds of single threads, which the matrix unit exceeds many times.

//= matmul/f32_split.cu, "enum {" to "TILE_K = 32,"
  WARPS_M = 2,
  WARPS_N = 2,
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128
  PART_M = TILE_M / WARPS_M,  // of a warp
//= convolution/mfma.hip, "PART_N = TILE_N / WARPS_N," to "STEPS = TILE_K / FRAGMENT_K,  // of a tile"
  STAGES = 4,
  LOAD = 8,  // elements in one load from global memory
  WORDS = 4,  // 32-bit words that hold them
  CHUNK = 8,  // elements in 16 bytes
  ROW_A = TILE_K / LOAD,  // loads per stored row of a tile of A
  ROW_B = TILE_N / LOAD,
  PASS_A = THREADS / ROW_A,  // stored rows that the block loads at a time
  PASS_B = THREADS / ROW_B,
  LOADS_A = TILE_M * TILE_K / (THREADS * LOAD),  // loads per thread and tile
  LOADS_B = TILE_N * TILE_K / (THREADS * LOAD),
  PITCH_A = TILE_K,  // elements from one stored row of tile_a to the next
  PITCH_B = TILE_N,
  SIZE_A = TILE_M * PITCH_A,  // elements of tile_a
  STAGE = SIZE_A + TILE_K * PITCH_B,  // of both tiles
  RASTER = 8,
};

typedef u16 element_t;  // bits of an element of A and B

// A run of LOAD elements, of which `inside` exist; zeros beyond.
DEVICE_FUNCTION void load_elements(GLOBAL const element_t* from, int inside, u32 words[WORDS]) {
  UNROLL
  for (int i = 0; i < LOAD; ++i) {
    const u32 bits = LOAD_2_IF(i < inside, from + i);
    words[i / 2] = i % 2 == 0 ? bits : words[i / 2] | bits << 16;
  }
}

//= convolution/mfma.hip, "// Registers -> shared memory." to "}"

// Where tile_a keeps element (row, column) of its stored rows: an XOR spreads the 16-byte chunks of neighbouring rows over the banks.
DEVICE_FUNCTION int place_a(int row, int column) {
  return row * PITCH_A + (column ^ row / 2 % 4 * CHUNK);
}

// Global memory -> shared memory, where `whole`: part `step` of this thread's share of a tile of op(A), read along k,
// none of it beyond the matrix. `from` and `to` are its first run. Predicated, not branched to, so that multiplications go on
// between the copies.
DEVICE_FUNCTION void copy_a(int whole, GLOBAL const element_t* from, i32 ld, int step, SHARED_PTR element_t* to) {
  UNROLL
  for (int i = LOADS_A * step / STEPS; i < LOADS_A * (step + 1) / STEPS; ++i) {
    ASYNC_COPY_16_IF(whole, to + i * PASS_A * PITCH_A,
                     from + (i64)(i * PASS_A) * ld);
  }
}

// The same at the edges: rows_left and k_left are counted from the first run, and beyond them come zeros. `aligned`: runs
// may be copied as vectors.
DEVICE_FUNCTION void copy_edge_a(GLOBAL const element_t* from, i32 ld, int rows_left, int k_left, int aligned,
                                 SHARED_PTR element_t* tile) {
  NO_UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    GLOBAL const element_t* run = from + (i64)(i * PASS_A) * ld;
    SHARED_PTR element_t* to = tile + place_a(THREAD_X / ROW_A + i * PASS_A, THREAD_X % ROW_A * LOAD);
    const int inside = i * PASS_A < rows_left ? MIN(MAX(k_left, 0), LOAD + 0) : 0;  // elements from here on
    if (aligned) {
      ASYNC_COPY_16(to, run, inside * 2);
    } else {
      u32 words[WORDS];
      load_elements(run, inside, words);
      keep_run(to, words);
    }
  }
}

//= convolution/mfma.hip, "// Where in tile_a this lane's share of the frag" to "const int column = i / MATRIX_RUNS * FRAGMENT_K "
    places[i] = first * PITCH_A + place_a(MATRIX_ROW_A(lane), column);
  }
}

//= convolution/mfma.hip, "// Shared memory -> registers: the warp's fragme" to "for (int r = 0; r < MATRIX_RUNS; ++r) {"
      MATRIX_LOAD(fragments[i], r, tile + places[step * MATRIX_RUNS + r] + i * 16 * PITCH_A);
    }
  }
}

// Where tile_b keeps element (row, column) of its stored rows: an XOR spreads the 16-byte chunks of neighbouring rows over the banks.
DEVICE_FUNCTION int place_b(int row, int column) {
  return row * PITCH_B + (column ^ row / 1 % 8 * CHUNK);
}

// Global memory -> shared memory, where `whole`: part `step` of this thread's share of a tile of op(B), read along cols,
// none of it beyond the matrix. `from` and `to` are its first run. Predicated, not branched to, so that multiplications go on
// between the copies.
DEVICE_FUNCTION void copy_b(int whole, GLOBAL const element_t* from, i32 ld, int step, SHARED_PTR element_t* to) {
  UNROLL
  for (int i = LOADS_B * step / STEPS; i < LOADS_B * (step + 1) / STEPS; ++i) {
    ASYNC_COPY_16_IF(whole, to + i * PASS_B * PITCH_B,
                     from + (i64)(i * PASS_B) * ld);
  }
}

// The same at the edges: cols_left and k_left are counted from the first run, and beyond them come zeros. `aligned`: runs
// may be copied as vectors.
DEVICE_FUNCTION void copy_edge_b(GLOBAL const element_t* from, i32 ld, int cols_left, int k_left, int aligned,
                                 SHARED_PTR element_t* tile) {
  NO_UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    GLOBAL const element_t* run = from + (i64)(i * PASS_B) * ld;
    SHARED_PTR element_t* to = tile + place_b(THREAD_X / ROW_B + i * PASS_B, THREAD_X % ROW_B * LOAD);
    const int inside = i * PASS_B < k_left ? MIN(MAX(cols_left, 0), LOAD + 0) : 0;  // elements from here on
//= matmul/mma.cu, "if (aligned) {" to "}" (4)

// Where in tile_b this lane's share of the fragments lies, for each fragment: steps are FRAGMENT_K rows apart.
DEVICE_FUNCTION void find_b(int lane, int first, int places[FRAGMENTS_N * MATRIX_RUNS_ACROSS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_N * MATRIX_RUNS_ACROSS; ++i) {
    const int column = first + i / MATRIX_RUNS_ACROSS * 16 + MATRIX_ROW_ACROSS_B(lane);
    places[i] = place_b(MATRIX_STEP_ACROSS_B(lane, i % MATRIX_RUNS_ACROSS), column);
  }
}

//= convolution/mfma.hip, "// Shared memory -> registers: the warp's fragme" (2) to "UNROLL" (2)
    for (int r = 0; r < MATRIX_RUNS_ACROSS; ++r) {
      MATRIX_LOAD_ACROSS(fragments[i], r, tile + places[i * MATRIX_RUNS_ACROSS + r] + step * FRAGMENT_K * PITCH_B);
    }
  }
}

//= convolution/mfma.hip, "// sum += a * b, fragment by fragment; every sec" to "}" (3)

//= matmul/wgmma.cu, "// What an element of C is made from, beside its" to "}" (5)

// Four neighbouring columns of a row of C, as far as they lie inside: col is a multiple of 4.
DEVICE_FUNCTION void store_four(GLOBAL f16_t* c, int row, int col, int rows, int cols, i32 ldc, const f32* x,
                                epilogue_t epilogue) {
  if (row < rows && col + 4 <= cols && ldc % 4 == 0) {
    f32 bias[4], done[4];
    bias_pair(epilogue, row, col, rows, cols, &bias[0], &bias[1]);
    bias_pair(epilogue, row, col + 2, rows, cols, &bias[2], &bias[3]);
    UNROLL
    for (int i = 0; i < 4; ++i) done[i] = finish(x[i], 0, bias[i], epilogue);
    STORE_8(c + (i64)row * ldc + col, U32X2(F32X2_TO_F16X2(done[0], done[1]), F32X2_TO_F16X2(done[2], done[3])));
    return;
  }
  store_pair(c, row, col, rows, cols, ldc, x[0], x[1], epilogue);
  store_pair(c, row, col + 2, rows, cols, ldc, x[2], x[3], epilogue);
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_mma(
    GLOBAL const element_t* RESTRICT a,  // [m][lda]
    GLOBAL const element_t* RESTRICT b,  // [k][ldb]
    GLOBAL f16_t* RESTRICT c,  // [m][ldc]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, f32 alpha, f32 beta
    DYNAMIC_SHARED_PARAM(element_t, tiles)) {
  DYNAMIC_SHARED(element_t, tiles);  // [STAGES][tile_a, tile_b]

  // Which tile of C: RASTER rows of tiles are walked column by column, then the next RASTER rows.
//= convolution/mfma.hip, "const int tiles_n = (n - 1) / TILE_N + 1;" to "const int k_begin = 0;"
  int k_left = k;  // not fetched yet

  // This thread's first run of each operand, and what is left of the matrices from there.
  const int rows_left = m - row0 - THREAD_X / ROW_A;
  const int a_k = THREAD_X % ROW_A * LOAD;
  GLOBAL const element_t* from_a = a + (i64)(row0 + THREAD_X / ROW_A) * lda + k_begin + a_k;
  const i64 step_a = TILE_K;
  const int cols_left = n - col0 - THREAD_X % ROW_B * LOAD;
  const int b_k = THREAD_X / ROW_B;
  GLOBAL const element_t* from_b = b + (i64)(k_begin + b_k) * ldb + col0 + THREAD_X % ROW_B * LOAD;
  const i64 step_b = (i64)TILE_K * ldb;

//= convolution/mfma.hip, "// Which part of the tile, and where this lane's" to "int places_a[STEPS * MATRIX_RUNS];"
  int places_b[FRAGMENTS_N * MATRIX_RUNS_ACROSS];
//= convolution/mfma.hip, "find_a(lane, part_row, places_a);" to "}" (2)

  // Rows that begin at multiples of LOAD are loaded as vectors.
  const int aligned_a = lda % LOAD == 0;
  const int aligned_b = ldb % LOAD == 0;
  const int whole_a = aligned_a && row0 + TILE_M <= m;
  const int whole_b = aligned_b && col0 + TILE_N <= n;
  int fill = 0;  // the stage that is filled next
  SHARED_PTR element_t* filled;
  int all_a, all_b;
  const int to_a = place_a(THREAD_X / ROW_A, THREAD_X % ROW_A * LOAD);
  const int to_b = SIZE_A + place_b(THREAD_X / ROW_B, THREAD_X % ROW_B * LOAD);
  NO_UNROLL
  for (; fill < STAGES - 1; ++fill) {
    all_a = whole_a && k_left >= TILE_K;
    all_b = whole_b && k_left >= TILE_K;
    filled = tiles + fill * STAGE;
    if (k_left > 0 && !(all_a && all_b)) {
      if (!all_a) copy_edge_a(from_a, lda, rows_left, k_left - a_k, aligned_a, filled);
      if (!all_b) copy_edge_b(from_b, ldb, cols_left, k_left - b_k, aligned_b, filled + SIZE_A);
    }
    UNROLL
    for (int step = 0; step < STEPS; ++step) {
      copy_a(all_a, from_a, lda, step, filled + to_a);
      copy_b(all_b, from_b, ldb, step, filled + to_b);
    }
    ASYNC_COMMIT();
    from_a += step_a;
    from_b += step_b;
    k_left -= TILE_K;
  }
  ASYNC_WAIT(2);
//= convolution/mfma.hip, "BARRIER();  // the first tiles are there" to "for (int step = 0; step < STEPS; ++step) {"
      // A share of the copies in each step: multiplications hide what comes between them.
      if (step == 0) {
        all_a = whole_a && k_left >= TILE_K;
        all_b = whole_b && k_left >= TILE_K;
        filled = tiles + fill * STAGE;
        if (k_left > 0 && !(all_a && all_b)) {
          if (!all_a) copy_edge_a(from_a, lda, rows_left, k_left - a_k, aligned_a, filled);
          if (!all_b) copy_edge_b(from_b, ldb, cols_left, k_left - b_k, aligned_b, filled + SIZE_A);
        }
      }
      copy_a(all_a, from_a, lda, step, filled + to_a);
      copy_b(all_b, from_b, ldb, step, filled + to_b);
      if (step + 1 == STEPS) {
        ASYNC_COMMIT();
        fill = fill + 1 == STAGES ? 0 : fill + 1;
        from_a += step_a;
        from_b += step_b;
        k_left -= TILE_K;
      }
      if (step + 1 == STEPS) {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        current = tiles + stage * STAGE;
        ASYNC_WAIT(2);
//= convolution/mfma.hip, "BARRIER();  // the next tiles are there, and all" to "load_b(current + SIZE_A, places_b, (step + 1) % "
      multiply(fragments_a[step % 2], fragments_b[step % 2], sum);
    }
  }

  // Registers -> C.
  const epilogue_t epilogue = {alpha, beta, 0};
//= convolution/mfma.hip, "UNROLL" (22) to "}" (4)
