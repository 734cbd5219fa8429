// gfx90a: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// mfma:tile_m=128,tile_n=128,tile_k=32,warps_m=2,warps_n=2,load_vector=8,ahead=true,splits=1,blocks_per_unit=1,raster=8

// matmul, mfma: each warp multiplies fragments of 16 x 16 with the matrix unit, while registers take the next tiles.
//
//= matmul/mma.cu, "//                                    TILE_N    " to "//" (10)
//   global memory -> registers (the next tiles) -> shared memory -> registers (fragments) -> matrix unit
//
//= matmul/mma.cu, "// Tiles lie as their operands do: a fragment of" to "WARPS_N = 2,"
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 256
//= matmul/mma.cu, "PART_M = TILE_M / WARPS_M,  // of a warp" to "STEPS = TILE_K / FRAGMENT_K,  // of a tile"
  STAGES = 2,
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

//= convolution/mfma.hip, "// Registers -> shared memory." (2) to "for (int i = 0; i < LOADS_A; ++i) {"
    keep_run(tile + place_a(THREAD_X / ROW_A + i * PASS_A, THREAD_X % ROW_A * LOAD), held[i]);
  }
}

//= matmul/mma.cu, "// Where in tile_a this lane's share of the frag" to "}" (5)

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
//= matmul/mfma.hip, "const u32x4 v = LOAD_16(run);" to "UNROLL"
  for (int i = 0; i < LOADS_B; ++i) {
    load_elements(from + (i64)(i * PASS_B) * ld, i * PASS_B < k_left ? cols_left : 0, held[i]);
  }
}

//= convolution/mfma.hip, "// Registers -> shared memory." (3) to "for (int i = 0; i < LOADS_B; ++i) {"
    keep_run(tile + place_b(THREAD_X / ROW_B + i * PASS_B, THREAD_X % ROW_B * LOAD), held[i]);
  }
}

//= matmul/mma.cu, "// Where in tile_b this lane's share of the frag" to "}" (15)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_mfma(
//= matmul/mma.cu, "GLOBAL const element_t* RESTRICT a,  // [m][lda]" to "const int whole_b = aligned_b && col0 + TILE_N <"
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
//= matmul/mma.cu, "from_a += step_a;" (2) to "}"
//= matmul/mma.cu, "multiply(fragments_a[step % 2], fragments_b[step" to "}" (6)
