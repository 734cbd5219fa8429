// gfx90a: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// mfma:tile_m=128,tile_n=128,tile_k=32,warps_m=2,warps_n=2,load_vector=8,ahead=true,splits=1,blocks_per_unit=1,raster=8

// matmul, mfma: each warp multiplies fragments of 16 x 16 with the matrix unit, while registers take the next tiles.
//
//= matmul/mma.cu, "//                                    TILE_N    " to "//" (10)
//   global memory -> registers (the next tiles) -> shared memory -> registers (fragments) -> matrix unit
//
//= matmul/mma.cu, "// Tiles lie as their operands do: a fragment of" to "WARPS_N = 2,"
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 256
  PART_M = TILE_M / WARPS_M,  // of a warp
//= convolution/mfma.hip, "PART_N = TILE_N / WARPS_N," to "STAGES = 2,"
//= matmul/mma.cu, "LOAD = 8,  // elements in one load from global m" to "LOADS_B = TILE_N * TILE_K / (THREADS * LOAD),"
  PITCH_A = TILE_K + 8,  // elements from one stored row of tile_a to the next
  PITCH_B = TILE_N + 8,
//= matmul/mma.cu, "SIZE_A = TILE_M * PITCH_A,  // elements of tile_" to "}" (4)

// Where tile_a keeps element (row, column) of its stored rows.
DEVICE_FUNCTION int place_a(int row, int column) {
  return row * PITCH_A + column;
}

// Global memory -> registers: this thread's share of a tile of op(A), read along k. `from` is its first run;
// rows_left and k_left are counted from there, and beyond them come zeros. `whole`: nothing is beyond.
DEVICE_FUNCTION void fetch_a(GLOBAL const element_t* from, i32 ld, int rows_left, int k_left, int whole,
                             u32 held[LOADS_A][WORDS]) {
  if (whole) {
    UNROLL
    for (int i = 0; i < LOADS_A; ++i) {
      GLOBAL const element_t* run = from + (i64)(i * PASS_A) * ld;
      const u32x4 v = LOAD_16(run);
      held[i][0] = v.x, held[i][1] = v.y, held[i][2] = v.z, held[i][3] = v.w;
    }
    return;
  }
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    load_elements(from + (i64)(i * PASS_A) * ld, i * PASS_A < rows_left ? k_left : 0, held[i]);
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_a(u32 held[LOADS_A][WORDS], SHARED_PTR element_t* tile) {
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    keep_run(tile + place_a(THREAD_X / ROW_A + i * PASS_A, THREAD_X % ROW_A * LOAD), held[i]);
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

// Where tile_b keeps element (row, column) of its stored rows.
DEVICE_FUNCTION int place_b(int row, int column) {
  return row * PITCH_B + column;
}

// Global memory -> registers: this thread's share of a tile of op(B), read along cols. `from` is its first run;
// cols_left and k_left are counted from there, and beyond them come zeros. `whole`: nothing is beyond.
DEVICE_FUNCTION void fetch_b(GLOBAL const element_t* from, i32 ld, int cols_left, int k_left, int whole,
                             u32 held[LOADS_B][WORDS]) {
  if (whole) {
    UNROLL
    for (int i = 0; i < LOADS_B; ++i) {
      GLOBAL const element_t* run = from + (i64)(i * PASS_B) * ld;
      const u32x4 v = LOAD_16(run);
      held[i][0] = v.x, held[i][1] = v.y, held[i][2] = v.z, held[i][3] = v.w;
    }
    return;
  }
  UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    load_elements(from + (i64)(i * PASS_B) * ld, i * PASS_B < k_left ? cols_left : 0, held[i]);
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_b(u32 held[LOADS_B][WORDS], SHARED_PTR element_t* tile) {
  UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    keep_run(tile + place_b(THREAD_X / ROW_B + i * PASS_B, THREAD_X % ROW_B * LOAD), held[i]);
  }
}

//= matmul/mma.cu, "// Where in tile_b this lane's share of the frag" to "}" (2)

//= convolution/mfma.hip, "// Shared memory -> registers: the warp's fragme" (2) to "UNROLL" (2)
//= matmul/mma.cu, "for (int r = 0; r < MATRIX_RUNS_ACROSS; ++r) {" to "}" (3)

//= convolution/mfma.hip, "// sum += a * b, fragment by fragment; every sec" to "}" (3)

//= matmul/wgmma.cu, "// What an element of C is made from, beside its" to "}" (5)

//= matmul/mma.cu, "// Four neighbouring columns of a row of C, as f" to "}" (2)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_mfma(
//= matmul/mma.cu, "GLOBAL const element_t* RESTRICT a,  // [m][lda]" to "// Which tile of C: RASTER rows of tiles are wal"
//= convolution/mfma.hip, "const int tiles_n = (n - 1) / TILE_N + 1;" to "const int k_begin = 0;"
//= matmul/mma.cu, "int k_left = k;  // not fetched yet" to "const i64 step_b = (i64)TILE_K * ldb;"

//= convolution/mfma.hip, "// Which part of the tile, and where this lane's" to "int places_a[STEPS * MATRIX_RUNS];"
  int places_b[FRAGMENTS_N * MATRIX_RUNS_ACROSS];
//= convolution/mfma.hip, "find_a(lane, part_row, places_a);" to "}" (2)

//= matmul/mma.cu, "// Rows that begin at multiples of LOAD are load" to "const int whole_b = aligned_b && col0 + TILE_N <"
  u32 held_a[LOADS_A][WORDS];
  u32 held_b[LOADS_B][WORDS];
  fetch_a(from_a, lda, rows_left, k_left - a_k, whole_a && k_left >= TILE_K, held_a);
  fetch_b(from_b, ldb, cols_left, k_left - b_k, whole_b && k_left >= TILE_K, held_b);
  keep_a(held_a, tiles);
  keep_b(held_b, tiles + SIZE_A);
  from_a += step_a;
  from_b += step_b;
  k_left -= TILE_K;
//= convolution/mfma.hip, "BARRIER();  // the first tiles are there" to "if (tile + 1 < tiles_k) {" (2)
          fetch_a(from_a, lda, rows_left, k_left - a_k, whole_a && k_left >= TILE_K, held_a);
          fetch_b(from_b, ldb, cols_left, k_left - b_k, whole_b && k_left >= TILE_K, held_b);
        }
        from_a += step_a;
        from_b += step_b;
        k_left -= TILE_K;
      }
//= matmul/mma.cu, "multiply(fragments_a[step % 2], fragments_b[step" to "const epilogue_t epilogue = {alpha, beta, 0};"
//= convolution/mfma.hip, "UNROLL" (18) to "}" (4)
