// sm_90a: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f32 layout=nchw precision=highest epilogue=x
// f32_split:tile_m=128,tile_n=64,tile_k=32,consumers=2,stages=4,cluster_m=1,cluster_n=1,gather=pixels,schedule=tiles,register_split=true,blocks_per_unit=1,raster=8,raster_along=m

// convolution, f32_split: a layer as a matrix product of pixels and filters. The matrix of the pixels' windows never lies in
//= convolution/wgmma.cu, "// memory: the copy engine gathers its tiles fro" to "//" (14)
// The input is packed first: channels innermost, each f32 as 3 bf16 values whose sum it is.
// Six products of bf16 values, the small ones first, make one product in f32.
//= convolution/wgmma.cu, "// Limit attacked: the rate of the matrix units;" to "TILE_N = 64,"
  TILE_K = 32,
//= convolution/wgmma.cu, "STAGES = 4," to "CLUSTER = CLUSTER_M * CLUSTER_N * CLUSTER_K,"
  ROW = 64,  // bytes of a row of TILE_K elements: the width of the swizzle
  PLANES = 3,  // bf16 matrices whose sum is an operand
  PLANE_A = TILE_M * ROW,  // bytes from one to the next
  PLANE_B = TILE_N * ROW,
  PART_A = 64 * ROW,  // bytes from 64 rows of tile_a to the next 64
  BYTES_A = TILE_M * ROW * PLANES,
  BYTES_B = TILE_N * ROW * PLANES,
//= convolution/wgmma.cu, "STAGE = BYTES_A + BYTES_B," to ""{ .reg .pred p; setp.ne.b32 p, %34, 0;""
      " wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"
//= convolution/wgmma.cu, "" { %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10," to "typedef struct {"
  GLOBAL const f32* bias;      // none
  GLOBAL const f32* residual;  // none
//= convolution/wgmma.cu, "} epilogue_t;" to "}" (2)

// Two neighbouring channels of a pixel to the output, as far as they exist. pitch: pixels of an image.
DEVICE_FUNCTION void store_pair(GLOBAL f32* out, int row, int col, int rows, int cols, i32 pitch, f32 x, f32 y,
                                epilogue_t epilogue) {
  if (row >= rows) return;
  const i64 at = ((i64)(row / pitch) * cols + col) * pitch + row % pitch;
  const int next = pitch;
  f32 bias_x, bias_y;
  bias_pair(epilogue, row, col, rows, cols, &bias_x, &bias_y);
  if (col < cols) out[at] = finish(x, 0, bias_x, epilogue);
  if (col + 1 < cols) out[at + next] = finish(y, 0, bias_y, epilogue);
}

//= convolution/wgmma.cu, "enum {" (2) to "PACK_RUN = 8,  // elements that a thread packs a"
  PACK_PIXELS = 32,  // a tile that is turned in shared memory
  PACK_CHANNELS = 64,
};

DEVICE_FUNCTION i64 place_in(i64 image, int y, int x, int g, i32 c, i32 h, i32 w) {
  return ((image * c + g) * h + y) * w + x;
}

DEVICE_FUNCTION i64 place_tap(i64 channel, int i, int j, int g, i32 c) {
  return ((channel * c + g) * FH + i) * FW + j;
}

// PACK_RUN values to run `at` of each plane: bf16 values whose sum it is, each the 8 leading bits of what the ones before
// leave.
DEVICE_FUNCTION void split_run(f32* x, GLOBAL u16* to, i64 at, i64 plane) {
  UNROLL
  for (int p = 0; p < PLANES; ++p) {
    u32 word[PACK_RUN / 2];
    UNROLL
    for (int i = 0; i < PACK_RUN / 2; ++i) {
      word[i] = F32X2_TO_BF16X2(x[2 * i], x[2 * i + 1]);
      x[2 * i] -= BITS_TO_F32(word[i] << 16);
      x[2 * i + 1] -= BITS_TO_F32(word[i] & 0xffff0000u);
    }
    STORE_16(to + p * plane + at * PACK_RUN, U32X4(word[0], word[1], word[2], word[3]));
  }
}

// The same, and whether a value is infinite, no number, or rounds to infinity.
DEVICE_FUNCTION int store_run(f32* x, GLOBAL u16* to, i64 at, i64 plane) {
  int is_special = 0;
  UNROLL
  for (int i = 0; i < PACK_RUN; ++i) is_special |= (F32_TO_BITS(x[i]) & 0x7fffffffu) >= 0x7f7f8000u;
  split_run(x, to, at, plane);
//= convolution/wgmma.cu, "return is_special;" to "KERNEL(PACK_THREADS, 1, 1) convolution_pack("
    GLOBAL const f32* RESTRICT in,      // [n][c][h][w]
    GLOBAL u16* RESTRICT packed_in,      // [PLANES][n][h][w][whole runs of c]
    GLOBAL const f32* RESTRICT filter,  // [k][c][FH][FW]
    GLOBAL u16* RESTRICT packed_filter,  // [PLANES][k][FH][FW][whole runs of c]
    GLOBAL u32* special,
//= convolution/wgmma.cu, "i32 n, i32 c, i32 h, i32 w, i32 k, i32 out_h, i3" to "if (BLOCK_Y == 0) {"
    // Tiles of PACK_CHANNELS x PACK_PIXELS: neighbouring threads read neighbouring pixels and store neighbouring channels.
    SHARED f32 tile[PACK_CHANNELS][PACK_PIXELS + 1];
    const int pixels = h * w;
    const int runs = (c - 1) / PACK_RUN + 1;  // of a pixel
    const int tiles_x = (pixels - 1) / PACK_PIXELS + 1;
    const int tiles_c = (c - 1) / PACK_CHANNELS + 1;
    for (int at = BLOCK_X; at < n * tiles_x * tiles_c; at += GRID_X) {
      const int pixel0 = at % tiles_x * PACK_PIXELS;
      const int c0 = at / tiles_x % tiles_c * PACK_CHANNELS;
      const i64 image = at / tiles_x / tiles_c;
      const int pixel = pixel0 + THREAD_X % PACK_PIXELS;
      UNROLL
      for (int i = 0; i < PACK_CHANNELS; i += PACK_THREADS / PACK_PIXELS) {
        const int g = i + THREAD_X / PACK_PIXELS;
        tile[g][THREAD_X % PACK_PIXELS] = c0 + g < c && pixel < pixels ? in[(image * c + c0 + g) * pixels + pixel] : 0;
      }
      BARRIER();  // the tile is there
      const int run = THREAD_X % (PACK_CHANNELS / PACK_RUN);
      const int of_pixel = THREAD_X / (PACK_CHANNELS / PACK_RUN);
      f32 value[PACK_RUN];
      UNROLL
      for (int i = 0; i < PACK_RUN; ++i) value[i] = tile[run * PACK_RUN + i][of_pixel];
      if (c0 + run * PACK_RUN < c && pixel0 + of_pixel < pixels) {
        const i64 to = (image * pixels + pixel0 + of_pixel) * runs + c0 / PACK_RUN + run;
        is_special |= store_run(value, packed_in, to, (i64)n * pixels * runs * PACK_RUN);
      }
      BARRIER();  // all have read the tile
    }
//= convolution/wgmma.cu, "} else {" to "const i64 channel = at / runs / TAPS;"
      f32 value[PACK_RUN];
//= convolution/wgmma.cu, "UNROLL" (4) to "}" (3)
  if (is_special) special[0] = 1;
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_wgmma(
    TENSOR_MAP_PARAM(map_a), TENSOR_MAP_PARAM(map_b),
    GLOBAL f32* c,  // the output: [images][n][out_h][out_w]
    GLOBAL const f32* in, GLOBAL const f32* filter,
    GLOBAL u32* special,  // is a value infinite or no number; who has read it
//= convolution/wgmma.cu, "i32 images, i32 channels, i32 h, i32 w, i32 n, i" to "const int k = TAPS * chunks * TILE_K;"
  const i32 ldc = out_h * out_w;
//= convolution/wgmma.cu, "const epilogue_t epilogue = { 0, 0 };" to "}" (3)
  DEPENDENT_WAIT();  // for the planes
  const int is_special = LOAD_ACQUIRE_U32(special) != 0;
  BARRIER();  // the barriers are there
  if (THREAD_X == 0 && ATOMIC_ADD_U32(special + 1, 1) == GRID_X - 1) special[0] = special[1] = 0;  // all have read it
  if (is_special) {
    // Infinities and numbers that are none have no planes: products as they are. Rare, so that it may be slow.
    for (int unit = cluster; unit < tiles_m * tiles_n; unit += clusters) {
      const int first_row = (unit / tiles_n * CLUSTER_M + rank_m) * TILE_M;
      const int first_col = (unit % tiles_n * CLUSTER_N + rank_n) * TILE_N;
      for (int at = THREAD_X; at < TILE_M * TILE_N / 2; at += THREADS) {
        const int row = first_row + at / (TILE_N / 2);
        const int col = first_col + at % (TILE_N / 2) * 2;
        if (row >= rows || col >= cols) continue;
        const int next = col + 1 < cols;
        f32 sum0 = 0, sum1 = 0;
        for (int i = 0; i < FH; ++i) {
          const int y = row / out_w % out_h * STRIDE + i * DILATION - pad_h;
          if (y < 0 || y >= h) continue;
          for (int j = 0; j < FW; ++j) {
            const int x = row % out_w * STRIDE + j * DILATION - pad_w;
            if (x < 0 || x >= w) continue;
            for (int g = 0; g < channels; ++g) {
              const f32 value = in[place_in(row / out_w / out_h, y, x, g, channels, h, w)];
              const f32 tap = filter[place_tap(col, i, j, g, channels)];
              const f32 next_tap = filter[place_tap(col + next, i, j, g, channels)];
              sum0 = FMA(value, tap, sum0);
              sum1 = FMA(value, next_tap, sum1);
            }
          }
        }
        store_pair(c, row, col, rows, cols, ldc, sum0, sum1, epilogue);
      }
    }
    return;
  }

//= convolution/wgmma.cu, "int next_unit = cluster;" to "REGISTERS_SHRINK(40);"
//= convolution/wgmma.cu, "if (warp == CONSUMERS * 4 && LANE() == 0) {" (2) to "TENSOR_LOAD_3D(to_b, map_b, channel, tap, col0, "
          TENSOR_LOAD_IM2COL(to_a + 1 * PLANE_A, map_a, channel, x0, y0, image + 1 * images, tap_x * DILATION, tap_y * DILATION, there);
          TENSOR_LOAD_3D(to_b + 1 * PLANE_B, map_b, channel, tap, col0 + 1 * n, there);
          TENSOR_LOAD_IM2COL(to_a + 2 * PLANE_A, map_a, channel, x0, y0, image + 2 * images, tap_x * DILATION, tap_y * DILATION, there);
          TENSOR_LOAD_3D(to_b + 2 * PLANE_B, map_b, channel, tap, col0 + 2 * n, there);
//= convolution/wgmma.cu, "if (++chunk == chunks) {" to "f32 sum[PARTS][SUMS];"
    f32 chunk[PARTS][SUMS];  // of one step: the matrix units cut sums off, so that few are added up there
//= convolution/wgmma.cu, "const u64 first_a = WGMMA_DESCRIPTOR(base + grou" to "const int col0 = (tile_col * CLUSTER_N + rank_n)"
      UNROLL
      for (int p = 0; p < PARTS; ++p) {
        UNROLL
        for (int j = 0; j < SUMS; ++j) sum[p][j] = 0;
      }
//= convolution/wgmma.cu, "int i = 0;" to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 2 * (PLANE_B / 16) + kk * 2, kk != 0);
          }
        }
//= convolution/wgmma.cu, "UNROLL" (5) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (2 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 2, 1);
          }
        }
//= convolution/wgmma.cu, "UNROLL" (5) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (1 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 1 * (PLANE_B / 16) + kk * 2, 1);
          }
        }
//= convolution/wgmma.cu, "UNROLL" (5) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 1 * (PLANE_B / 16) + kk * 2, 1);
          }
        }
//= convolution/wgmma.cu, "UNROLL" (5) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (1 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 2, 1);
          }
        }
//= convolution/wgmma.cu, "UNROLL" (5) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 2, 1);
          }
        }
        WGMMA_COMMIT();
        WGMMA_WAIT(0);
        const u32 read = empty + 8 * stage;
        if (LANE() == 0) MBARRIER_ARRIVE(read);
        UNROLL
        for (int p = 0; p < PARTS; ++p) {
          UNROLL
          for (int j = 0; j < SUMS; ++j) {
            asm volatile("" : "+f"(chunk[p][j])::"memory");  // read no earlier
            sum[p][j] += chunk[p][j];
          }
        }
//= convolution/wgmma.cu, "if (++stage == STAGES) {" (2) to "} while (++i < count);"

//= convolution/wgmma.cu, "// Registers -> C." to "}" (5)
