// gfx90a: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// mfma:tile_m=128,tile_n=64,tile_k=32,warps_m=2,warps_n=2,ahead=true,splits=1,blocks_per_unit=1,raster=8

// convolution, mfma: a layer as a product of pixels and filters, whose fragments of 16 x 16 the matrix unit multiplies.
//
//                                    TILE_N               a wavefront: PART_M x PART_N of the tile
//                               +-------------+
//                        TILE_K |   tile_b    |             b: FRAGMENTS_N of 16 channels of the output
//                               +-------------+             |  |  |  |  |
//            TILE_K             +------+------+        a: - +--+--+--+--+
//           +------+            | wave | wave |           - |  |  |  |  |    for each step of FRAGMENT_K along k:
//    TILE_M |tile_a|            |------+------|           - +--+--+--+--+      for i < FRAGMENTS_M, j < FRAGMENTS_N:
//           |      |            | wave | wave |  <=       - |  |  |  |  |        sum[i][j] += a[i] * b[j]
//           +------+            +------+------+           - +--+--+--+--+
//                                 the output
//
//   m: pixels of the output, of all images; n: channels of the output; k: channels of the input, tap after tap
//   a[pixel][tap * channels + g] = in[image][y * stride + i * dilation - pad_h][x * stride + j * dilation - pad_w][g],  tap = i * FW + j
//   b[channel][tap * channels + g] = filter[channel][i][j][g]
//
//   global memory -> registers (the next tiles) -> shared memory -> registers (fragments) -> matrix unit
//
// Loads take 16 bytes: where channels are not innermost, or are no multiple of LOAD, a step in front packs input and filter so.
// Limit attacked: the rate of multiply-adds of single threads, which the matrix unit exceeds many times.

//= convolution/f32_split.cu, "enum {" (2) to "DILATION = 1,"
  TAPS = FH * FW,
  TILE_M = 128,
  TILE_N = 64,
  TILE_K = 32,
  WARPS_M = 2,
  WARPS_N = 2,
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 256
  PART_M = TILE_M / WARPS_M,  // of a wavefront
  PART_N = TILE_N / WARPS_N,
  FRAGMENTS_M = PART_M / 16,
  FRAGMENTS_N = PART_N / 16,
  FRAGMENT_K = 16,  // 32 bytes of a row
  STEPS = TILE_K / FRAGMENT_K,  // of a tile
  STAGES = 2,
  LOAD = 8,  // elements in one load from global memory: 16 bytes
  WORDS = 4,  // 32-bit words that hold them
  ROW = TILE_K / LOAD,  // loads for a row of a tile
  PASS = THREADS / ROW,  // rows that the block loads at a time
  LOADS_A = TILE_M / PASS,  // loads per thread and tile
  LOADS_B = TILE_N / PASS,
  PITCH = TILE_K + 8,  // elements from one row of a tile to the next
  SIZE_A = TILE_M * PITCH,  // elements of tile_a
  STAGE = SIZE_A + TILE_N * PITCH,  // of both tiles
  RASTER = 8,
};

typedef u16 element_t;  // bits of an element

//= convolution/wgmma.cu, "// Input and filter as the copies want them: cha" to "}" (10)

// Where a thread is along k.
typedef struct {
  int k, channel, tap_x, tap_y;
} place_t;

// The pixels of a thread's loads: where the first tap of each reads, and the element of the input that is there.
typedef struct {
  int x[LOADS_A], y[LOADS_A];
  i64 at[LOADS_A];
} pixels_t;

// LOAD elements, or zeros.
DEVICE_FUNCTION void load_run(GLOBAL const element_t* from, int wanted, u32 words[WORDS]) {
  const u32x4 v = LOAD_16_IF(wanted, from);
  words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
}

// Global memory -> registers: this thread's share of the pixels of a tile, at one tap.
DEVICE_FUNCTION void fetch_a(GLOBAL const element_t* in, const pixels_t* pixels, place_t place, i32 channels, i32 h, i32 w, i32 k,
                             u32 held[LOADS_A][WORDS]) {
  const int x = place.tap_x * DILATION;
  const int y = place.tap_y * DILATION;
  const i64 from_first = ((i64)y * w + x) * channels + place.channel;
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    const int inside = place.k < k && (u32)(pixels->x[i] + x) < (u32)w && (u32)(pixels->y[i] + y) < (u32)h;
    load_run(in + pixels->at[i] + from_first, inside, held[i]);
  }
}

// The same of the filters; cols_left: channels of the output from this thread's first one on.
DEVICE_FUNCTION void fetch_b(GLOBAL const element_t* filter, int col, int cols_left, place_t place, i32 k, u32 held[LOADS_B][WORDS]) {
  UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    load_run(filter + (i64)(col + i * PASS) * k + place.k, i * PASS < cols_left && place.k < k, held[i]);
  }
}

// The next tile: often another tap, and several where a tap has few channels.
DEVICE_FUNCTION void advance(place_t* place, i32 channels) {
  place->k += TILE_K;
  place->channel += TILE_K;
  while (place->channel >= channels) {
    place->channel -= channels;
    if (++place->tap_x == FW) {
      place->tap_x = 0;
      ++place->tap_y;
    }
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_run(SHARED_PTR element_t* to, const u32 words[WORDS]) {
  SHARED_STORE_16(to, U32X4(words[0], words[1], words[2], words[3]));
}

// Where tile_a keeps element (row, column) of its stored rows.
DEVICE_FUNCTION int place_a(int row, int column) {
  return row * PITCH + column;
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_a(u32 held[LOADS_A][WORDS], SHARED_PTR element_t* tile) {
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    keep_run(tile + place_a(THREAD_X / ROW + i * PASS, THREAD_X % ROW * LOAD), held[i]);
  }
}

// Where in tile_a this lane's share of the fragments lies, for each step: those below each other are 16 rows apart.
DEVICE_FUNCTION void find_a(int lane, int first, int places[STEPS * MATRIX_RUNS]) {
  UNROLL
  for (int i = 0; i < STEPS * MATRIX_RUNS; ++i) {
    const int column = i / MATRIX_RUNS * FRAGMENT_K + MATRIX_BYTE_A(lane, i % MATRIX_RUNS) / 2;
    places[i] = first * PITCH + place_a(MATRIX_ROW_A(lane), column);
  }
}

// Shared memory -> registers: the warp's fragments of a step.
DEVICE_FUNCTION void load_a(SHARED_PTR const element_t* tile, const int* places, int step,
                            u32 fragments[FRAGMENTS_M][MATRIX_WORDS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int r = 0; r < MATRIX_RUNS; ++r) {
      MATRIX_LOAD(fragments[i], r, tile + places[step * MATRIX_RUNS + r] + i * 16 * PITCH);
    }
  }
}

// Where tile_b keeps element (row, column) of its stored rows.
DEVICE_FUNCTION int place_b(int row, int column) {
//= convolution/mfma.hip, "return row * PITCH + column;" to "// Registers -> shared memory."
DEVICE_FUNCTION void keep_b(u32 held[LOADS_B][WORDS], SHARED_PTR element_t* tile) {
  UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    keep_run(tile + place_b(THREAD_X / ROW + i * PASS, THREAD_X % ROW * LOAD), held[i]);
  }
}

// Where in tile_b this lane's share of the fragments lies, for each step: those below each other are 16 rows apart.
DEVICE_FUNCTION void find_b(int lane, int first, int places[STEPS * MATRIX_RUNS]) {
  UNROLL
  for (int i = 0; i < STEPS * MATRIX_RUNS; ++i) {
    const int column = i / MATRIX_RUNS * FRAGMENT_K + MATRIX_BYTE_B(lane, i % MATRIX_RUNS) / 2;
    places[i] = first * PITCH + place_b(MATRIX_ROW_B(lane), column);
  }
}

// Shared memory -> registers: the warp's fragments of a step.
DEVICE_FUNCTION void load_b(SHARED_PTR const element_t* tile, const int* places, int step,
                            u32 fragments[FRAGMENTS_N][MATRIX_WORDS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_N; ++i) {
//= convolution/mfma.hip, "UNROLL" (10) to "}" (3)

// sum += a * b, fragment by fragment; every second row of them backwards, so that the next one shares an operand.
DEVICE_FUNCTION void multiply(u32 a[FRAGMENTS_M][MATRIX_WORDS], u32 b[FRAGMENTS_N][MATRIX_WORDS],
                              f32 sum[FRAGMENTS_M][FRAGMENTS_N][MATRIX_SUMS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int j = 0; j < FRAGMENTS_N; ++j) {
      const int to = i % 2 == 0 ? j : FRAGMENTS_N - 1 - j;
      MATRIX_MULTIPLY_F16(sum[i][to], a[i], b[to]);
    }
  }
}

//= convolution/wgmma.cu, "// What an element of the output is made from, b" to "}" (5)

// Four neighbouring channels of a pixel, as far as they exist.
DEVICE_FUNCTION void store_four(GLOBAL f16_t* out, int row, int col, int rows, int cols, i32 pitch, const f32* x,
                                epilogue_t epilogue) {
  store_pair(out, row, col, rows, cols, pitch, x[0], x[1], epilogue);
  store_pair(out, row, col + 2, rows, cols, pitch, x[2], x[3], epilogue);
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_mfma(
    GLOBAL const element_t* RESTRICT in,      // [images][h][w][whole runs of channels]
    GLOBAL const element_t* RESTRICT filter,  // [n][FH][FW][whole runs of channels]
    GLOBAL f16_t* c,  // the output: [images][out_h][out_w][n]
    i32 images, i32 channels, i32 h, i32 w, i32 n, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w
    DYNAMIC_SHARED_PARAM(element_t, tiles)) {
  DYNAMIC_SHARED(element_t, tiles);  // [STAGES][tile_a, tile_b]
  const int m = images * out_h * out_w;
  const int whole_channels = (channels + LOAD - 1) / LOAD * LOAD;
  const int k = TAPS * whole_channels;
  const i32 ldc = n;

  // Which tile of the output: RASTER rows of tiles are walked column by column, then the next RASTER rows.
  const int tiles_n = (n - 1) / TILE_N + 1;
  const int tiles_m = (m - 1) / TILE_M + 1;
  const int band = BLOCK_X / (RASTER * tiles_n) * RASTER;  // first row of tiles
  const int band_rows = MIN(tiles_m - band, RASTER + 0);
  const int in_band = BLOCK_X % (RASTER * tiles_n);
  const int row0 = (band + in_band % band_rows) * TILE_M;
  const int col0 = in_band / band_rows * TILE_N;

  // Which part of k, in tiles.
  const int tiles_k = (k - 1) / TILE_K + 1;
  const int k_begin = 0;

  // What this thread loads: LOAD neighbours along k, of pixels and channels of the output that are PASS apart.
  place_t place;
  place.k = k_begin + THREAD_X % ROW * LOAD;
  place.channel = place.k % whole_channels;
  place.tap_x = place.k / whole_channels % FW;
  place.tap_y = place.k / whole_channels / FW;
  pixels_t pixels;
  UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    const int pixel = row0 + THREAD_X / ROW + i * PASS;
    const int y = pixel / out_w % out_h * STRIDE - pad_h;
    pixels.x[i] = pixel % out_w * STRIDE - pad_w;
    pixels.y[i] = pixel < m ? y : -0x40000000;  // outside of every input
    pixels.at[i] = (((i64)(pixel / out_w / out_h) * h + y) * w + pixels.x[i]) * whole_channels;
  }
  const int col = col0 + THREAD_X / ROW;

  // Which part of the tile, and where this lane's share of its fragments lies.
  const int lane = THREAD_X % WARP_SIZE;
  const int warp = THREAD_X / WARP_SIZE;
  const int part_row = warp / WARPS_N * PART_M;
  const int part_col = warp % WARPS_N * PART_N;
  int places_a[STEPS * MATRIX_RUNS];
  int places_b[STEPS * MATRIX_RUNS];
  find_a(lane, part_row, places_a);
  find_b(lane, part_col, places_b);

  f32 sum[FRAGMENTS_M][FRAGMENTS_N][MATRIX_SUMS];
//= convolution/mfma.hip, "UNROLL" (15) to "for (int j = 0; j < FRAGMENTS_N; ++j) {"
      UNROLL
      for (int s = 0; s < MATRIX_SUMS; ++s) sum[i][j][s] = 0;
    }
  }

  u32 held_a[LOADS_A][WORDS];
  u32 held_b[LOADS_B][WORDS];
  fetch_a(in, &pixels, place, whole_channels, h, w, k, held_a);
  fetch_b(filter, col, n - col, place, k, held_b);
  keep_a(held_a, tiles);
  keep_b(held_b, tiles + SIZE_A);
  BARRIER();  // the first tiles are there

  // Each step loads the fragments of the next one, then multiplies its own.
  u32 fragments_a[2][FRAGMENTS_M][MATRIX_WORDS];
  u32 fragments_b[2][FRAGMENTS_N][MATRIX_WORDS];
  SHARED_PTR element_t* current = tiles;
  int stage = 0;
  load_a(current, places_a, 0, fragments_a[0]);
  load_b(current + SIZE_A, places_b, 0, fragments_b[0]);
  NO_UNROLL
  for (int tile = 0; tile < tiles_k; ++tile) {
    UNROLL
    for (int step = 0; step < STEPS; ++step) {
      if (step + 1 == STEPS) {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        current = tiles + stage * STAGE;
        if (tile + 1 < tiles_k) {
          keep_a(held_a, current);
          keep_b(held_b, current + SIZE_A);
        }
        BARRIER();  // the next tiles are there, and all fragments of the current ones are loaded
      }
      load_a(current, places_a, (step + 1) % STEPS, fragments_a[(step + 1) % 2]);
      load_b(current + SIZE_A, places_b, (step + 1) % STEPS, fragments_b[(step + 1) % 2]);
      if (step == 0) {
        if (tile + 1 < tiles_k) {
          advance(&place, whole_channels);
          fetch_a(in, &pixels, place, whole_channels, h, w, k, held_a);
          fetch_b(filter, col, n - col, place, k, held_b);
        }
      }
      multiply(fragments_a[step % 2], fragments_b[step % 2], sum);
    }
  }

  // Registers -> output.
  const epilogue_t epilogue = { 0, 0 };
//= convolution/mfma.hip, "UNROLL" (15) to "for (int j = 0; j < FRAGMENTS_N; ++j) {"
      MATRIX_ORDER(sum[i][j], lane);
      UNROLL
      for (int s = 0; s < MATRIX_SUMS; s += 4) {
        const int row = row0 + part_row + i * 16 + MATRIX_SUM_ROW(lane, s);
        const int col = col0 + part_col + j * 16 + MATRIX_SUM_COLUMN(lane, s);
        store_four(c, row, col, m, n, ldc, &sum[i][j][s], epilogue);
      }
    }
  }
}
