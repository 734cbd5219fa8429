// sm_90a, gfx90a, opencl: h=56 w=56 fh=3 fw=3 n=32 c=128 k=128 groups=128 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nchw precision=highest epilogue=x
// depthwise_planes:block_planes=1,tile_y=4,threads=64,micro_x=4,micro_y=2,run=1,blocks_per_unit=1

// convolution, depthwise_planes: channels lie outermost, and each is filtered by itself: whole planes, or strips of rows of a
// plane, come to shared memory as they lie, in wide loads; a thread then computes MICRO_Y x MICRO_X outputs.
//
//      in: planes of h x w            tile: the same bytes             one thread: a window of each row that its outputs see
//      +----------------+             +----------------+
//      |################| 16 bytes    |################|                 x - PAD_W       x                    window, in registers
//      |################|  ------>    |################|  run by run      [ a b | c d e f | g h ]
//      +----------------+  a load     +----------------+  -------->         |   |         |
//      |################|             |################|                 places beside a row are zeros
//
//   for a row of taps:  sum[ry][rx] += window[rx * STRIDE + fx] * tap[fx]
//
//= convolution/depthwise.cu, "// Limit attacked: the bandwidth of memory: ther" to "TAPS = FH * FW,  // 9"
  PITCH = 4,  // taps of a row, in whole loads
  STRIDE = 1,
  PAD_W = FW / 2,
  PLANES = 1,  // of a block
  TILE_Y = 4,  // rows of output of a block
  THREADS = 64,
  MICRO_X = 4,
  MICRO_Y = 2,
  WINDOW = (MICRO_X - 1) * STRIDE + FW,  // elements of a row
  ROWS = (MICRO_Y - 1) * STRIDE + FH,
  ELEMENTS = 8,  // in 16 bytes
  HELD = 4,  // loads that a thread has under way
};

typedef u16 element_t;  // bits of an element

// Shared memory -> registers: the window of the outputs from column x of the input on. Runs of 1 lie inside of the row or outside.
DEVICE_FUNCTION void read_window(SHARED_PTR const element_t* row, int x, int width, f32* window) {
  {
    element_t v = 0;
    if ((u32)(x - 1) < (u32)width) v = row[x - 1];
    window[0] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x) < (u32)width) v = row[x];
    window[1] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 1) < (u32)width) v = row[x + 1];
    window[2] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 2) < (u32)width) v = row[x + 2];
    window[3] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 3) < (u32)width) v = row[x + 3];
    window[4] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 4) < (u32)width) v = row[x + 4];
    window[5] = F16_TO_F32(v);
  }
}

// A row of taps times a window.
DEVICE_FUNCTION void add_row(SHARED_PTR const f32* taps, const f32* window, f32* sum) {
  f32 tap[PITCH];
  UNROLL
  for (int i = 0; i < PITCH; i += 4) {
    const u32x4 v = SHARED_LOAD_16(taps + i);
//= convolution/image.cu, "tap[i] = BITS_TO_F32(v.x), tap[i + 1] = BITS_TO_" to "UNROLL" (2)
    for (int rx = 0; rx < MICRO_X; ++rx) sum[rx] = FMA(window[rx * STRIDE + fx], tap[fx], sum[rx]);
  }
}

//= convolution/depthwise_strips.cu, "DEVICE_FUNCTION void store_run(GLOBAL element_t*" to "}" (3)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_depthwise_planes(
    GLOBAL const element_t* RESTRICT in,      // [n][c][h][w]
    GLOBAL const f16_t* RESTRICT filter,  // [c][FH][FW]
    GLOBAL element_t* RESTRICT out,           // [n][c][out_h][out_w]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h
    DYNAMIC_SHARED_PARAM(u32, shared)) {
  DYNAMIC_SHARED(u32, shared);  // f32 [PLANES][FH][PITCH]; the tile
  SHARED_PTR f32* taps = (SHARED_PTR f32*)shared;
  SHARED_PTR element_t* tile = (SHARED_PTR element_t*)(shared + PLANES * FH * PITCH);

  const int strips = (out_h - 1) / TILE_Y + 1;  // of a plane
  const i64 plane0 = (i64)(BLOCK_X / strips) * PLANES;
  const int planes = (int)MIN((i64)n * c - plane0, (i64)PLANES);
  const int y0 = BLOCK_X % strips * TILE_Y;  // first row of output
  const int rows = MIN(out_h - y0, (int)TILE_Y);
  const int first = MIN(MAX(y0 * STRIDE - pad_h, 0), h);  // rows of the input that the tile holds
  const int end = MAX(MIN((y0 + rows - 1) * STRIDE - pad_h + FH, h), first);

  // Global memory -> shared memory, from a multiple of 16 bytes on.
  const i64 begin = (plane0 * h + first) * w;
  const int head = (int)(begin % ELEMENTS);
  const i64 left = (i64)n * c * h * w - (begin - head);                     // elements of the input from there
  const int wanted = head + (planes == 1 ? (end - first) * w : planes * h * w);
  const int runs = (int)MIN(left, (i64)(wanted + ELEMENTS - 1)) / ELEMENTS;  // that lie inside the input
  GLOBAL const element_t* from = in + (begin - head);
  for (int i = THREAD_X; i < runs; i += THREADS * HELD) {
    u32x4 held[HELD];
    UNROLL
    for (int j = 0; j < HELD; ++j) held[j] = LOAD_16_IF(i + j * THREADS < runs, from + (i64)(i + j * THREADS) * ELEMENTS);
    UNROLL
    for (int j = 0; j < HELD; ++j) {
      if (i + j * THREADS < runs) SHARED_STORE_16(tile + (i + j * THREADS) * ELEMENTS, held[j]);
    }
  }
  for (int i = runs * ELEMENTS + THREAD_X; i < wanted; i += THREADS) tile[i] = from[i];
  for (int i = THREAD_X; i < planes * FH * PITCH; i += THREADS) {
    const int fx = i % PITCH;
    taps[i] = fx < FW ? F16_TO_F32(filter[((plane0 + i / (FH * PITCH)) % c * FH + i / PITCH % FH) * FW + fx]) : 0.0f;
  }
  BARRIER();  // tile and taps are there

  const int blocks_x = (out_w - 1) / MICRO_X + 1;
  const int blocks = blocks_x * ((rows - 1) / MICRO_Y + 1);
  for (int i = THREAD_X; i < planes * blocks; i += THREADS) {
    const int plane = i / blocks;  // of the block
    const int x = i % blocks_x * MICRO_X;  // first output
    const int y = y0 + i % blocks / blocks_x * MICRO_Y;
    SHARED_PTR const element_t* rows_of = tile + head + plane * h * w;
    SHARED_PTR const f32* taps_of = taps + plane * (FH * PITCH);

    // Shared memory -> registers, one row of input at a time.
    f32 sum[MICRO_Y][MICRO_X];
    UNROLL
    for (int j = 0; j < MICRO_Y * MICRO_X; ++j) sum[j / MICRO_X][j % MICRO_X] = 0.0f;
    UNROLL
    for (int iy = 0; iy < ROWS; ++iy) {
      const int from_y = y * STRIDE - pad_h + iy;
      f32 window[WINDOW];
      read_window(rows_of + (from_y - first) * w, x * STRIDE, from_y >= first && from_y < end ? w : 0, window);
      UNROLL
      for (int ry = 0; ry < MICRO_Y; ++ry) {
        const int fy = iy - ry * STRIDE;
        if (fy >= 0 && fy < FH) add_row(taps_of + fy * PITCH, window, sum[ry]);
      }
    }

    // Registers -> global memory.
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      if (y + ry >= y0 + rows) continue;
      const i64 at = ((plane0 + plane) * out_h + y + ry) * out_w + x;
      GLOBAL element_t* to = out + at;
      if (out_w % 4 == 0) {
        UNROLL
        for (int rx = 0; rx < MICRO_X; rx += 4) {
          if (x + rx < out_w) store_run(to + rx, sum[ry] + rx);
        }
        continue;
      }
      UNROLL
      for (int rx = 0; rx < MICRO_X; ++rx) {
        if (x + rx < out_w) to[rx] = F32_TO_F16(sum[ry][rx]);
      }
    }
  }
}
