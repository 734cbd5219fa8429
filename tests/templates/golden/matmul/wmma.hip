// gfx1100: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// wmma:tile_m=64,tile_n=64,tile_k=32,warps_m=2,warps_n=2,load_vector=8,ahead=true,splits=1,blocks_per_unit=1,raster=8

// matmul, wmma: each warp multiplies fragments of 16 x 16 with the matrix unit, while registers take the next tiles.
//
//= matmul/mma.cu, "//                                    TILE_N    " to "//" (10)
//   global memory -> registers (the next tiles) -> shared memory -> registers (fragments) -> matrix unit
//
// Tiles lie as their operands do: a fragment of an operand that lies across k is turned while it is loaded.
// Limit attacked: the rate of multiply-adds of single threads, which the matrix unit exceeds many times.

enum {
//= convolution/wmma.hip, "TILE_M = 64," to "THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128"
  PART_M = TILE_M / WARPS_M,  // of a warp
//= convolution/mfma.hip, "PART_N = TILE_N / WARPS_N," to "STAGES = 2,"
//= matmul/mma.cu, "LOAD = 8,  // elements in one load from global m" to "LOADS_B = TILE_N * TILE_K / (THREADS * LOAD),"
  PITCH_A = TILE_K + 8,  // elements from one stored row of tile_a to the next
  PITCH_B = TILE_N + 8,
//= matmul/mma.cu, "SIZE_A = TILE_M * PITCH_A,  // elements of tile_" to "}" (4)

//= matmul/mfma.hip, "// Where tile_a keeps element (row, column) of i" to "}" (7)

//= convolution/mfma.hip, "// Where in tile_a this lane's share of the frag" to "const int column = i / MATRIX_RUNS * FRAGMENT_K "
    places[i] = first * PITCH_A + place_a(MATRIX_ROW_A(lane), column);
  }
}

//= convolution/mfma.hip, "// Shared memory -> registers: the warp's fragme" to "for (int r = 0; r < MATRIX_RUNS; ++r) {"
//= matmul/mfma.hip, "MATRIX_LOAD(fragments[i], r, tile + places[step " to "}" (10)

//= matmul/mma.cu, "// Where in tile_b this lane's share of the frag" to "}" (2)

//= convolution/mfma.hip, "// Shared memory -> registers: the warp's fragme" (2) to "UNROLL" (2)
//= matmul/mma.cu, "for (int r = 0; r < MATRIX_RUNS_ACROSS; ++r) {" to "}" (3)

//= convolution/mfma.hip, "// sum += a * b, fragment by fragment; every sec" to "}" (3)

//= matmul/wgmma.cu, "// What an element of C is made from, beside its" to "}" (5)

//= matmul/mma.cu, "// Four neighbouring columns of a row of C, as f" to "}" (2)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_wmma(
//= matmul/mma.cu, "GLOBAL const element_t* RESTRICT a,  // [m][lda]" to "// Which tile of C: RASTER rows of tiles are wal"
//= convolution/mfma.hip, "const int tiles_n = (n - 1) / TILE_N + 1;" to "const int k_begin = 0;"
//= matmul/mma.cu, "int k_left = k;  // not fetched yet" to "const i64 step_b = (i64)TILE_K * ldb;"

//= convolution/mfma.hip, "// Which part of the tile, and where this lane's" to "int places_a[STEPS * MATRIX_RUNS];"
  int places_b[FRAGMENTS_N * MATRIX_RUNS_ACROSS];
//= convolution/mfma.hip, "find_a(lane, part_row, places_a);" to "}" (2)

//= matmul/mma.cu, "// Rows that begin at multiples of LOAD are load" to "const int whole_b = aligned_b && col0 + TILE_N <"
//= matmul/mfma.hip, "u32 held_a[LOADS_A][WORDS];" to "k_left -= TILE_K;"
//= convolution/mfma.hip, "BARRIER();  // the first tiles are there" to "if (tile + 1 < tiles_k) {" (2)
//= matmul/mfma.hip, "fetch_a(from_a, lda, rows_left, k_left - a_k, wh" (2) to "}" (2)
//= matmul/mma.cu, "multiply(fragments_a[step % 2], fragments_b[step" to "const epilogue_t epilogue = {alpha, beta, 0};"
//= convolution/mfma.hip, "UNROLL" (18) to "}" (4)
