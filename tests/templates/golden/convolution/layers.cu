// sm_90a, gfx90a, opencl: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// layers:tile_x=16,tile_y=4,tile_k=32,micro_x=4,micro_k=4,step_taps=36,unroll=1,prefetch=false

// convolution, layers: a block computes TILE_K channels of TILE_Y x TILE_X pixels of one image, CHANNELS channels of
// the input at a time; a thread keeps MICRO_K channels of MICRO_X neighbouring pixels in registers.
//
//      in_tile [CHANNELS][IN_ROWS][IN_PITCH]        filter_tile [CHANNELS * TAPS][TILE_K]        sum, per thread
//       +---------------+                              +-----------------+
//       |   . . . . .   | window of a row,         tap | . . . . . . . . |  MICRO_K              MICRO_X
//       |               | in registers                 |                 |  channels           +---------+
//       +---------------+                              +-----------------+             MICRO_K |         |
//                                                                                              +---------+
//   for each step of CHANNELS channels, for c, fy, fx:
//     sum[rk][rx] += filter[k0 + rk][c][fy][fx] * in[c][y * STRIDE + fy - pad_h][(x + rx) * STRIDE + fx - pad_w]
//
// Limit attacked: loads from shared memory. The taps lie with the channels of the output innermost: a thread
// reads them as vectors, and neighbouring threads, which compute neighbouring pixels, read the same ones.

//= convolution/depthwise_tiles.cu, "enum {" to "TILE_X = 16,"
  TILE_Y = 4,
  TILE_K = 32,
  MICRO_X = 4,
  MICRO_K = 4,
  CHANNELS = 4,  // channels of input in a step
  THREADS_X = TILE_X / MICRO_X,
  THREADS_PIXEL = THREADS_X * TILE_Y,  // threads that compute the same channels
  THREADS = 128,
  IN_ROWS = 6,
  IN_PITCH = 20,
  WINDOW = 6,  // columns of input that MICRO_X pixels need
  WINDOW_RUN = 4,  // of them in one vector
  FILTER_RUN = 4,  // taps in one vector
  FILTER_PITCH = 36,
  IN_TILE = CHANNELS * IN_ROWS * IN_PITCH,  // floats of a tile
  FILTER_TILE = TILE_K * CHANNELS * TAPS,  // of them from the filter
  IN_HELD = 4,  // of them that a thread reads before it writes the first one
  FILTER_HELD = 5,
};

// Global memory -> registers: what goes to places i, i + THREADS ... of in_tile; zeros outside the input. `from` is the
// first channel of the step, y0 and x0 the first pixel of the tile.
DEVICE_FUNCTION void hold_in(f32* held, GLOBAL const f16_t* from, int i, int channels, int y0, int x0, i32 h, i32 w, i32 c) {
  UNROLL
  for (int j = 0; j < IN_HELD; ++j, i += THREADS) {
    const int channel = i / (IN_ROWS * IN_PITCH);
    const int y = y0 + i / IN_PITCH % IN_ROWS;
    const int x = x0 + i % IN_PITCH;
    const int inside = channel < channels && y >= 0 && y < h && x >= 0 && x < w;
    held[j] = inside ? F16_TO_F32(from[((i64)y * w + x) * c + channel]) : 0.0f;
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_in(const f32* held, int i, SHARED_PTR f32* in_tile) {
  UNROLL
  for (int j = 0; j < IN_HELD; ++j, i += THREADS) {
    if (i < IN_TILE) in_tile[i] = held[j];
  }
}

// Global memory -> registers: taps i, i + THREADS ... of the step; zeros beyond the last channel of the input and of the
// output. Neighbouring threads read neighbouring taps of one channel of the output.
DEVICE_FUNCTION void hold_filter(f32* held, GLOBAL const f16_t* from, int i, int channels, int block_k, i32 group_c) {
  UNROLL
  for (int j = 0; j < FILTER_HELD; ++j, i += THREADS) {
    const int tap = i % (CHANNELS * TAPS);
    const int rk = i / (CHANNELS * TAPS);
    const int inside = rk < block_k && tap < channels * TAPS;
    held[j] = inside ? F16_TO_F32(from[((i64)rk * TAPS + tap % TAPS) * group_c + tap / TAPS]) : 0.0f;
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_filter(const f32* held, int i, SHARED_PTR f32* filter_tile) {
  UNROLL
  for (int j = 0; j < FILTER_HELD; ++j, i += THREADS) {
    if (i < FILTER_TILE) filter_tile[i % (CHANNELS * TAPS) * FILTER_PITCH + i / (CHANNELS * TAPS)] = held[j];
  }
}

// Adds one row of taps: shared memory -> registers.
DEVICE_FUNCTION void add_row(SHARED_PTR const f32* row, SHARED_PTR const f32* taps, f32 (*sum)[MICRO_X]) {
  f32 window[(WINDOW + 3) / 4 * 4];
  UNROLL
  for (int j = 0; j < WINDOW; j += WINDOW_RUN) {
    const u32x4 v = SHARED_LOAD_16(row + j);
    window[j] = BITS_TO_F32(v.x), window[j + 1] = BITS_TO_F32(v.y);
    window[j + 2] = BITS_TO_F32(v.z), window[j + 3] = BITS_TO_F32(v.w);
  }
  UNROLL
  for (int fx = 0; fx < FW; ++fx) {
    f32 tap[MICRO_K];
    UNROLL
    for (int rk = 0; rk < MICRO_K; rk += FILTER_RUN) {
      const u32x4 v = SHARED_LOAD_16(taps + fx * FILTER_PITCH + rk);
      tap[rk] = BITS_TO_F32(v.x), tap[rk + 1] = BITS_TO_F32(v.y);
      tap[rk + 2] = BITS_TO_F32(v.z), tap[rk + 3] = BITS_TO_F32(v.w);
    }
    UNROLL
    for (int rk = 0; rk < MICRO_K; ++rk) {
      UNROLL
      for (int rx = 0; rx < MICRO_X; ++rx) sum[rk][rx] = FMA(tap[rk], window[rx * STRIDE + fx], sum[rk][rx]);
    }
  }
}

//= convolution/depthwise_planes.cu, "// What an element of the output is made from, b" to "}" (2)

KERNEL(128, 1, 1) convolution_layers(
    GLOBAL const f16_t* RESTRICT in,      // [n][h][w][c]
    GLOBAL const f16_t* RESTRICT filter,  // [k][FH][FW][group_c]
    GLOBAL f16_t* RESTRICT out,           // [n][out_h][out_w][k]
    i32 c, i32 h, i32 w, i32 k, i32 group_c, i32 group_k, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w
    DYNAMIC_SHARED_PARAM(f32, in_tile)) {
  DYNAMIC_SHARED(f32, in_tile);  // [CHANNELS][IN_ROWS][IN_PITCH]
  SHARED_PTR f32* filter_tile = in_tile + CHANNELS * IN_ROWS * IN_PITCH;  // [CHANNELS][FH][FW][FILTER_PITCH]

  const int tiles_x = (out_w - 1) / TILE_X + 1;
  const int tiles_y = (out_h - 1) / TILE_Y + 1;
  const int tiles_k = (group_k - 1) / TILE_K + 1;
  const int x0 = BLOCK_X % tiles_x * TILE_X;  // first pixel of the block
  const int y0 = BLOCK_X / tiles_x % tiles_y * TILE_Y;
  const i64 image = BLOCK_X / (tiles_x * tiles_y);
  const int group = BLOCK_Y / tiles_k;
  const int k0 = BLOCK_Y % tiles_k * TILE_K;  // first channel of the block, in its group

  const int x = THREAD_X % THREADS_X * MICRO_X;  // first pixel of the thread, in the block
  const int y = THREAD_X % THREADS_PIXEL / THREADS_X;
  const int rk0 = THREAD_X / THREADS_PIXEL * MICRO_K;  // first channel of the thread, in the block
  const int in_y0 = y0 * STRIDE - pad_h;  // first input of the block
  const int in_x0 = x0 * STRIDE - pad_w;

  GLOBAL const f16_t* from = in + image * h * w * c + group * group_c;
  GLOBAL const f16_t* from_filter = filter + ((i64)group * group_k + k0) * group_c * TAPS;
  const int block_k = MIN(group_k - k0, TILE_K + 0);  // channels of the block that exist
  const int first_c = 0;
  const int end_c = group_c;

  f32 sum[MICRO_K][MICRO_X];
  UNROLL
  for (int rk = 0; rk < MICRO_K; ++rk) {
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) sum[rk][rx] = 0.0f;
  }

  SHARED_PTR const f32* rows = in_tile + y * STRIDE * IN_PITCH + x * STRIDE;  // that the thread's windows slide over
  for (int c0 = first_c; c0 < end_c; c0 += CHANNELS) {
    const int channels = MIN(end_c - c0, CHANNELS + 0);  // of this step: the last one may have fewer

    // Global memory -> shared memory.
    NO_UNROLL
    for (int i = THREAD_X; i < IN_TILE; i += IN_HELD * THREADS) {
      f32 held[IN_HELD];
      hold_in(held, from + c0, i, channels, in_y0, in_x0, h, w, c);
      keep_in(held, i, in_tile);
    }
    NO_UNROLL
    for (int i = THREAD_X; i < FILTER_TILE; i += FILTER_HELD * THREADS) {
      f32 held[FILTER_HELD];
      hold_filter(held, from_filter + c0, i, channels, block_k, group_c);
      keep_filter(held, i, filter_tile);
    }
    BARRIER();  // both tiles are there

    if (channels == CHANNELS) {
      UNROLL_N(1)
      for (int i = 0; i < CHANNELS * FH; ++i) {
        add_row(rows + (i / FH * IN_ROWS + i % FH) * IN_PITCH, filter_tile + i * FW * FILTER_PITCH + rk0, sum);
      }
    } else {
      NO_UNROLL
      for (int i = 0; i < channels * FH; ++i) {
        add_row(rows + (i / FH * IN_ROWS + i % FH) * IN_PITCH, filter_tile + i * FW * FILTER_PITCH + rk0, sum);
      }
    }
    BARRIER();  // nobody needs the tiles before the next channels overwrite them
  }

  // Registers -> global memory.
  const epilogue_t epilogue = { 0, 0 };
  const int at_y = y0 + y;
  const int at_x = x0 + x;
  if (at_y >= out_h) return;
  UNROLL
  for (int rk = 0; rk < MICRO_K; ++rk) {
    if (rk0 + rk >= block_k) continue;
    const int channel = group * group_k + k0 + rk0 + rk;
    GLOBAL f16_t* to = out + ((image * out_h + at_y) * out_w + at_x) * k + channel;
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) {
      if (at_x + rx < out_w) to[rx * (i64)k] = F32_TO_F16(finish(sum[rk][rx], 0, 0, epilogue));
    }
  }
}
