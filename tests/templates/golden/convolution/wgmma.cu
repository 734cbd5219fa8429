// sm_90a: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// wgmma:tile_m=128,tile_n=64,tile_k=64,consumers=2,stages=4,cluster_m=1,cluster_n=1,gather=pixels,cluster_k=1,schedule=tiles,ping_pong=false,register_split=true,blocks_per_unit=1,store=registers,raster=8,raster_along=m

// convolution, wgmma: a layer as a matrix product of pixels and filters. The matrix of the pixels' windows never lies in
// memory: the copy engine gathers its tiles from the images.
//
//                                   TILE_N channels of the output
//                              +-------------+               a row of tile_a:  TILE_K channels of the input, for one pixel
//                       TILE_K |   tile_b    |                                 of the output and one tap (i, j)
//                              +-------------+               a row of tile_b:  the same channels of the tap, for one channel
//           TILE_K             +-------------+                                 of the output
//          +------+            | consumer 0  |
//   TILE_M |tile_a|            |- - - - - - -|             for taps (i, j), channels g of the input:
//   pixels |      |            | consumer 1  |               out[pixel][c] += in[image][y * STRIDE + i * DILATION - pad_h]
//          +------+            +-------------+                                 [x * STRIDE + j * DILATION - pad_w][g]
//                                    out                                   * filter[c][i][j][g]
//
//   global memory -> (im2col tensor copies) shared memory -> (matrix units) registers -> out
//
// Limit attacked: the rate of the matrix units; gathering, waiting and storing are hidden behind them.

enum {
  TILE_M = 128,
  TILE_N = 64,
  TILE_K = 64,
  STAGES = 4,
  CONSUMERS = 2,  // warpgroups of 128 threads
  PARTS = 1,  // of 64 rows, that a consumer multiplies
  CLUSTER_M = 1,
  CLUSTER_N = 1,
  CLUSTER_K = 1,  // blocks that share a tile of C
  CLUSTER = CLUSTER_M * CLUSTER_N * CLUSTER_K,
  ROW = 128,  // bytes of a row of TILE_K elements: the width of the swizzle
  PART_A = 64 * ROW,  // bytes from 64 rows of tile_a to the next 64
  BYTES_A = TILE_M * ROW,
  BYTES_B = TILE_N * ROW,
  STAGE = BYTES_A + BYTES_B,
  SUMS = TILE_N / 2,  // of a thread, for each part
  THREADS = 384,
  RASTER = 8,  // rows of tiles that are walked together, so that tiles in flight share operands in the cache
};

// Steps [first, end) along k of one tile of C. Tiles are counted in clusters.
typedef struct {
  int tile, first, end;
} work_t;

// d += a * b for 64 x TILE_N x 16; with keep = 0, d = a * b.
DEVICE_FUNCTION void multiply(f32* d, u64 a, u64 b, int keep) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0;"
      " wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
      " { %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 }, %32, %33, p, 1, 1, 0, 0; }"
      :
      "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
      "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
      "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
      "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
      "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
      "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
      "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(keep));
}

// What an element of the output is made from, beside its sum.
typedef struct {
  GLOBAL const f16_t* bias;      // none
  GLOBAL const f16_t* residual;  // none
} epilogue_t;

// The element of the output from its sum x, the residual's element and the channel's bias.
DEVICE_FUNCTION f32 finish(f32 x, f32 residual, f32 bias, epilogue_t epilogue) {
  return (x);
}

// The values of bias for two neighbouring columns of a row; any value for what lies outside.
DEVICE_FUNCTION void bias_pair(epilogue_t epilogue, int row, int col, int rows, int cols, f32* x, f32* y) {
  *x = *y = 0;
}

// Two neighbouring channels of a pixel to the output, as far as they exist. pitch: channels of the output.
DEVICE_FUNCTION void store_pair(GLOBAL f16_t* out, int row, int col, int rows, int cols, i32 pitch, f32 x, f32 y,
                                epilogue_t epilogue) {
  if (row >= rows) return;
  const i64 at = (i64)row * pitch + col;
  const int next = 1;
  f32 bias_x, bias_y;
  bias_pair(epilogue, row, col, rows, cols, &bias_x, &bias_y);
  if (col + 1 < cols && pitch % 2 == 0) {
    STORE_4(out + at, F32X2_TO_F16X2(finish(x, 0, bias_x, epilogue), finish(y, 0, bias_y, epilogue)));
    return;
  }
  if (col < cols) out[at] = F32_TO_F16(finish(x, 0, bias_x, epilogue));
  if (col + 1 < cols) out[at + next] = F32_TO_F16(finish(y, 0, bias_y, epilogue));
}

enum {
  FH = 3,
  FW = 3,
  STRIDE = 1,
  DILATION = 1,
  TAPS_X = FW,
  TAPS = FH * TAPS_X,
};

// Input and filter as the copies want them: channels innermost.
enum {
  PACK_THREADS = 256,
  PACK_RUN = 8,  // elements that a thread packs at a time
};

DEVICE_FUNCTION i64 place_in(i64 image, int y, int x, int g, i32 c, i32 h, i32 w) {
  return ((image * h + y) * w + x) * c + g;
}

DEVICE_FUNCTION i64 place_tap(i64 channel, int i, int j, int g, i32 c) {
  return ((channel * FH + i) * FW + j) * c + g;
}

// PACK_RUN values to run `at`. Gives whether a value is infinite or no number.
DEVICE_FUNCTION int store_run(const u16* x, GLOBAL u16* to, i64 at, i64 plane) {
  int is_special = 0;
  UNROLL
  for (int i = 0; i < PACK_RUN; ++i) is_special |= (x[i] & 0x7c00) == 0x7c00;
  u32 word[PACK_RUN / 2];
  UNROLL
  for (int i = 0; i < PACK_RUN / 2; ++i) word[i] = x[2 * i] | (u32)x[2 * i + 1] << 16;
  STORE_16(to + at * PACK_RUN, U32X4(word[0], word[1], word[2], word[3]));
  return is_special;
}

KERNEL(PACK_THREADS, 1, 1) convolution_pack(
    GLOBAL const f16_t* RESTRICT in,      // [n][h][w][c]
    GLOBAL u16* RESTRICT packed_in,      // [n][h][w][whole runs of c]
    GLOBAL const f16_t* RESTRICT filter,  // [k][FH][FW][c]
    GLOBAL u16* RESTRICT packed_filter,  // [k][FH][FW][whole runs of c]
    i32 n, i32 c, i32 h, i32 w, i32 k, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w) {
  DEPENDENT_LAUNCH();
  const i64 step = (i64)GRID_X * PACK_THREADS;
  int is_special = 0;
  if (BLOCK_Y == 0) {
    const int runs = (c - 1) / PACK_RUN + 1;  // of a pixel
    const i64 count = (i64)n * h * w * runs;
    for (i64 at = (i64)BLOCK_X * PACK_THREADS + THREAD_X; at < count; at += step) {
      const int first = (int)(at % runs) * PACK_RUN;
      GLOBAL const f16_t* from = in + at / runs * c + first;
      f16_t value[PACK_RUN];
      UNROLL
      for (int i = 0; i < PACK_RUN; ++i) value[i] = first + i < c ? from[i] : 0;
      is_special |= store_run(value, packed_in, at, count * PACK_RUN);
    }
  } else {
    const int runs = (c - 1) / PACK_RUN + 1;  // of a tap
    const i64 count = (i64)k * TAPS * runs;
    for (i64 at = (i64)BLOCK_X * PACK_THREADS + THREAD_X; at < count; at += step) {
      const int first = (int)(at % runs) * PACK_RUN;
      const int tap = (int)(at / runs % TAPS);
      const i64 channel = at / runs / TAPS;
      f16_t value[PACK_RUN];
      UNROLL
      for (int i = 0; i < PACK_RUN; ++i) {
        value[i] = first + i < c ? filter[place_tap(channel, tap / FW, tap % FW, first + i, c)] : 0;
      }
      is_special |= store_run(value, packed_filter, at, count * PACK_RUN);
    }
  }
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_wgmma(
    TENSOR_MAP_PARAM(map_a), TENSOR_MAP_PARAM(map_b),
    GLOBAL f16_t* c,  // the output: [images][out_h][out_w][n]
    GLOBAL const f16_t* in, GLOBAL const f16_t* filter,
    i32 images, i32 channels, i32 h, i32 w, i32 n, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w) {
  const int m = images * out_h * out_w;  // the product is m x n: pixels and channels of the output
  const int chunks = (channels - 1) / TILE_K + 1;  // steps of a tap
  const int k = TAPS * chunks * TILE_K;
  const i32 ldc = n;
  const epilogue_t epilogue = { 0, 0 };
  ALIGNED_SHARED(u8, shared);
  const u32 base = SHARED_ADDRESS(shared);  // STAGES of tile_a, tile_b; panels; barriers
  const u32 barriers = base + STAGES * STAGE;
  const u32 full = barriers;                // [STAGES]
  const u32 empty = barriers + 8 * STAGES;  // [STAGES]
  const int warp = WARP_UNIFORM(THREAD_X / 32);
  const int group = warp / 4;  // warpgroup: a consumer, or, the last, the copying one
  const int rank_m = 0;
  const int rank_n = 0;

  // What there is to do, in tiles of a cluster.
  const int rows = m;  // of the product as the matrix units see it
  const int cols = n;
  const int tiles_m = (rows - 1) / (TILE_M * CLUSTER_M) + 1;
  const int tiles_n = (cols - 1) / (TILE_N * CLUSTER_N) + 1;
  const int steps = (k - 1) / TILE_K + 1;
  const int clusters = GRID_X / CLUSTER;
  const int cluster = BLOCK_X / CLUSTER;

  if (THREAD_X == 0) {
    for (int s = 0; s < STAGES; ++s) {
      MBARRIER_INIT(full + 8 * s, 1);
      MBARRIER_INIT(empty + 8 * s, 8 * (CLUSTER_M + CLUSTER_N - 1));  // each warp of each reading block
    }
    MBARRIER_FENCE();
  }
  if (warp == CONSUMERS * 4 && LANE() == 0) {
    TENSOR_PREFETCH(map_a);
    TENSOR_PREFETCH(map_b);
  }
  BARRIER();  // the barriers are there

  int next_unit = cluster;
  const int end_unit = tiles_m * tiles_n;

  if (group == CONSUMERS) {
    // Global memory -> shared memory: one thread issues all copies.
    REGISTERS_SHRINK(40);
    DEPENDENT_WAIT();  // for the kernel in front, which may write what this one reads
    if (warp == CONSUMERS * 4 && LANE() == 0) {
      int stage = 0;
      u32 parity = 1;
      while (next_unit < end_unit) {
        work_t work;
        work.tile = next_unit;
        work.first = 0;
        work.end = steps;
        next_unit += clusters;
        const int band = work.tile / (RASTER * tiles_n) * RASTER;  // first row of tiles
        const int band_rows = MIN(tiles_m - band, RASTER + 0);
        const int in_band = work.tile % (RASTER * tiles_n);
        const int tile_row = band + in_band % band_rows;
        const int tile_col = in_band / band_rows;
        const int row0 = (tile_row * CLUSTER_M + rank_m) * TILE_M;
        const int col0 = (tile_col * CLUSTER_N + rank_n) * TILE_N;
        const int pixel = row0;  // the first that this block copies
        const int x0 = pixel % out_w * STRIDE - pad_w;
        const int y0 = pixel / out_w % out_h * STRIDE - pad_h;
        const int image = pixel / out_w / out_h;
        int chunk = work.first % chunks;
        int tap = work.first / chunks;
        int tap_x = tap % TAPS_X;
        int tap_y = tap / TAPS_X;
        for (int step = work.first; step < work.end; ++step) {
          const u32 to_a = base + stage * STAGE;
          const u32 to_b = to_a + BYTES_A;
          const u32 there = full + 8 * stage;
          MBARRIER_WAIT(empty + 8 * stage, parity);
          const int channel = chunk * TILE_K;
          MBARRIER_EXPECT(there, STAGE);
          TENSOR_LOAD_IM2COL(to_a, map_a, channel, x0, y0, image, tap_x * DILATION, tap_y * DILATION, there);
          TENSOR_LOAD_3D(to_b, map_b, channel, tap, col0, there);
          if (++chunk == chunks) {
            chunk = 0;
            ++tap;
            if (++tap_x == TAPS_X) {
              tap_x = 0;
              ++tap_y;
            }
          }
          if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
          }
        }
      }
    }
    WARP_BARRIER();
  } else {
    // Shared memory -> registers.
    REGISTERS_GROW(232);
    f32 sum[PARTS][SUMS];
    const u64 first_a = WGMMA_DESCRIPTOR(base + group * (PARTS * PART_A), 16, 8 * ROW, ROW);
    const u64 first_b = WGMMA_DESCRIPTOR(base + BYTES_A, 16, 8 * ROW, ROW);
    int stage = 0;
    u32 parity = 0;
    while (next_unit < end_unit) {
      work_t work;
      work.tile = next_unit;
      work.first = 0;
      work.end = steps;
      next_unit += clusters;
      const int band = work.tile / (RASTER * tiles_n) * RASTER;  // first row of tiles
      const int band_rows = MIN(tiles_m - band, RASTER + 0);
      const int in_band = work.tile % (RASTER * tiles_n);
      const int tile_row = band + in_band % band_rows;
      const int tile_col = in_band / band_rows;
      const int count = work.end - work.first;
      // Lane l of warp w holds rows 16 w + l / 4 (+ 8) and columns 2 (l % 4) + 8 i (+ 1) of each part.
      const int lane = LANE();
      const int row0 = (tile_row * CLUSTER_M + rank_m) * TILE_M + group * PARTS * 64;
      const int col0 = (tile_col * CLUSTER_N + rank_n) * TILE_N;
      int last_stage = 0;
      int i = 0;
      do {
        MBARRIER_WAIT(full + 8 * stage, parity);
        const u64 a = first_a + (u32)(stage * (STAGE / 16));
        const u64 b = first_b + (u32)(stage * (STAGE / 16));
        WGMMA_FENCE();
        UNROLL
        for (int kk = 0; kk < TILE_K / 16; ++kk) {
          UNROLL
          for (int p = 0; p < PARTS; ++p) {
            multiply(sum[p], a + p * (PART_A / 16) + kk * 2, b + kk * 2, (i | kk) != 0);
          }
        }
        WGMMA_COMMIT();
        WGMMA_WAIT(1);  // the step before has read its stage
        if (i > 0) {
          const u32 read = empty + 8 * last_stage;
          if (LANE() == 0) MBARRIER_ARRIVE(read);
        }
        last_stage = stage;
        if (++stage == STAGES) {
          stage = 0;
          parity ^= 1;
        }
      } while (++i < count);
      WGMMA_WAIT(0);
      const u32 read = empty + 8 * last_stage;
      if (LANE() == 0) MBARRIER_ARRIVE(read);
      UNROLL
      for (int p = 0; p < PARTS; ++p) {
        UNROLL
        for (int j = 0; j < SUMS; ++j) asm volatile("" : "+f"(sum[p][j])::"memory");  // read no earlier
      }

      // Registers -> C.
      UNROLL
      for (int p = 0; p < PARTS; ++p) {
        UNROLL
        for (int i = 0; i < TILE_N / 8; ++i) {
          const int row = row0 + p * 64 + warp % 4 * 16 + lane / 4;
          const int col = col0 + i * 8 + lane % 4 * 2;
          store_pair(c, row, col, rows, cols, ldc, sum[p][4 * i], sum[p][4 * i + 1], epilogue);
          store_pair(c, row + 8, col, rows, cols, ldc, sum[p][4 * i + 2], sum[p][4 * i + 3], epilogue);
        }
      }
    }
  }
}
