// sm_90a: h=56 w=56 fh=3 fw=3 n=32 c=128 k=128 groups=128 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nchw precision=highest epilogue=x
// depthwise_strips:block_planes=1,tile_x=32,tile_y=8,micro_x=4,micro_y=2,stages=2,blocks_per_unit=1

// convolution, depthwise_strips: channels lie outermost, and each is filtered by itself. The copy engine brings strips of whole
// rows of PLANES planes as they lie, STAGES ahead; a thread then computes MICRO_Y x MICRO_X outputs.
//
//      in: planes of h x w            strips, in shared memory         one thread: a window of each row that its outputs see
//      +----------------+             +----------------+
//      |                |  a copy     |################|                 x - PAD_W       x                    window, in registers
//      |################|  ------>    |################|  run by run      [ a b | c d e f | g h ]
//      |################|  a plane    +----------------+  -------->         |   |         |
//      |                |             |################|                 places beside a row are zeros
//      +----------------+             |################|
//                                     +----------------+        for a row of taps:  sum[ry][rx] += window[rx * STRIDE + fx] * tap[fx]
//
// Limit attacked: the bandwidth of memory: copies need no instructions, and go on while strips are computed.

//= convolution/depthwise.cu, "enum {" to "STRIDE = 1,"
  PLANES = 1,  // of a tile
  TILE_X = 32,  // columns of output that the threads compute at a time
  TILE_Y = 8,  // rows of output of a tile
  MICRO_X = 4,
  MICRO_Y = 2,
  WINDOW = 6,  // elements of a row that a thread's outputs see
  ROWS = (MICRO_Y - 1) * STRIDE + FH,
  IN_ROWS = (TILE_Y - 1) * STRIDE + FH,  // of the input that a strip sees, at most
  STAGES = 2,
  THREADS_Y = TILE_Y / MICRO_Y,
  THREADS_X = TILE_X / MICRO_X,
  THREADS = PLANES * THREADS_Y * THREADS_X,
};

typedef u16 element_t;  // bits of an element

// Shared memory -> registers: the window of the outputs from column x of the input on. Runs of 4 lie inside of the row or outside.
DEVICE_FUNCTION void read_window(SHARED_PTR const element_t* row, int x, int width, f32* window) {
  {
    u32 v = 0;
    if ((u32)(x - 2) < (u32)width) v = SHARED_LOAD_4(row + x - 2);
    window[0] = F16_TO_F32((u16)(v >> 16));
  }
  {
    u32x2 v = U32X2(0, 0);
    if ((u32)(x) < (u32)width) v = SHARED_LOAD_8(row + x);
    window[1] = F16_TO_F32((u16)v.x);
    window[2] = F16_TO_F32((u16)(v.x >> 16));
    window[3] = F16_TO_F32((u16)v.y);
    window[4] = F16_TO_F32((u16)(v.y >> 16));
  }
  {
    u32 v = 0;
    if ((u32)(x + 4) < (u32)width) v = SHARED_LOAD_4(row + x + 4);
    window[5] = F16_TO_F32((u16)v);
  }
}

DEVICE_FUNCTION void store_run(GLOBAL element_t* to, const f32* x) {
  STORE_8(to, U32X2(F32X2_TO_F16X2(x[0], x[1]), F32X2_TO_F16X2(x[2], x[3])));
}

//= convolution/mfma.hip, "// What an element of the output is made from, b" to "}" (2)

// The rows of the input, and of the planes from `plane` on, that a tile of the output sees.
typedef struct {
  int plane, y;    // of its first output
  int first, end;  // rows of the input
} strip_t;

DEVICE_FUNCTION strip_t strip_of(int tile, int strips, int h, int out_h, int pad_h) {
  strip_t at;
  at.plane = tile / strips * PLANES;
  at.y = tile % strips * TILE_Y;
  at.first = MIN(MAX(at.y * STRIDE - pad_h, 0), h);
  at.end = MAX(MIN((MIN(at.y + TILE_Y, out_h) - 1) * STRIDE - pad_h + FH, h), at.first);
  return at;
}

// One thread starts the copies of a strip: whole rows, plane by plane.
DEVICE_FUNCTION void copy_strip(GLOBAL const element_t* in, strip_t at, int planes, int h, int w, int plane_room, u32 to, u32 there) {
  const int known = MIN(planes - at.plane, PLANES + 0);
  const int bytes = (at.end - at.first) * w * 2;
  MBARRIER_EXPECT(there, known * bytes);
  if (bytes == 0) return;
  for (int i = 0; i < known; ++i) {
    BULK_LOAD(to + i * plane_room, in + ((i64)(at.plane + i) * h + at.first) * w, bytes, there);
  }
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_depthwise_strips(
    GLOBAL const element_t* RESTRICT in,      // [n][c][h][w]
    GLOBAL const f16_t* RESTRICT filter,  // [c][FH][FW]
    GLOBAL element_t* RESTRICT out,           // [n][c][out_h][out_w]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h) {
  ALIGNED_SHARED(u8, shared);
  const u32 base = SHARED_ADDRESS(shared);  // barriers, in 128 bytes; STAGES strips
  const int plane_room = MIN(h, IN_ROWS + 0) * w * 2;  // bytes
  const int room = PLANES * plane_room;
  const int planes = n * c;
  const int strips = (out_h - 1) / TILE_Y + 1;  // of a plane
  const int tiles = ((planes - 1) / PLANES + 1) * strips;
  if (THREAD_X == 0) {
    for (int s = 0; s < STAGES; ++s) MBARRIER_INIT(base + 8 * s, 1);
//= convolution/depthwise_tiles.cu, "MBARRIER_FENCE();" to "for (int s = 0; s < STAGES && BLOCK_X + s * GRID"
      copy_strip(in, strip_of(BLOCK_X + s * GRID_X, strips, h, out_h, pad_h), planes, h, w, plane_room, base + 128 + s * room, base + 8 * s);
    }
  }

  // Which outputs of a tile.
  const int own_plane = THREAD_X / (THREADS_X * THREADS_Y);
  const int own_x = THREAD_X % THREADS_X * MICRO_X;
  const int own_y = THREAD_X / THREADS_X % THREADS_Y * MICRO_Y;

  int stage = 0;
  u32 parity = 0;
  for (int tile = BLOCK_X; tile < tiles; tile += GRID_X) {
    const strip_t at = strip_of(tile, strips, h, out_h, pad_h);
    const int y0 = at.y + own_y;
    const int plane = at.plane + own_plane;
    const int channel = plane % c;
    f32 taps[FH][FW];
    UNROLL
    for (int i = 0; i < TAPS; ++i) taps[i / FW][i % FW] = F16_TO_F32(filter[channel * TAPS + i]);
    MBARRIER_WAIT(base + 8 * stage, parity);
    const int from_y = y0 * STRIDE - pad_h;
    SHARED_PTR const element_t* from = (SHARED_PTR const element_t*)(shared + 128 + stage * room + own_plane * plane_room) + (from_y - at.first) * w;
    for (int x0 = own_x; x0 < out_w; x0 += TILE_X) {
      // Shared memory -> registers, one row of input at a time.
      f32 sum[MICRO_Y][MICRO_X];
      UNROLL
      for (int i = 0; i < MICRO_Y * MICRO_X; ++i) sum[i / MICRO_X][i % MICRO_X] = 0.0f;
      UNROLL
      for (int iy = 0; iy < ROWS; ++iy) {
        if (from_y + iy < at.first || from_y + iy >= at.end) continue;
        f32 window[WINDOW];
        read_window(from + iy * w, x0 * STRIDE, w, window);
        UNROLL
        for (int ry = 0; ry < MICRO_Y; ++ry) {
          const int fy = iy - ry * STRIDE;
          if (fy < 0 || fy >= FH) continue;
          UNROLL
          for (int fx = 0; fx < FW; ++fx) {
            UNROLL
            for (int rx = 0; rx < MICRO_X; ++rx) sum[ry][rx] = FMA(window[rx * STRIDE + fx], taps[fy][fx], sum[ry][rx]);
          }
        }
      }

      // Registers -> global memory.
      if (plane >= planes) continue;
      GLOBAL element_t* to = out + ((i64)plane * out_h + y0) * out_w + x0;
      UNROLL
      for (int ry = 0; ry < MICRO_Y; ++ry) {
        if (y0 + ry >= out_h) continue;
        if (out_w % 4 == 0) {
          UNROLL
          for (int rx = 0; rx < MICRO_X; rx += 4) {
            if (x0 + rx < out_w) store_run(to + ry * out_w + rx, sum[ry] + rx);
          }
          continue;
        }
        UNROLL
        for (int rx = 0; rx < MICRO_X; ++rx) {
          if (x0 + rx < out_w) to[ry * out_w + rx] = F32_TO_F16(sum[ry][rx]);
        }
      }
    }
    BARRIER();  // all have read the strip
    if (THREAD_X == 0 && tile + STAGES * GRID_X < tiles) {
      copy_strip(in, strip_of(tile + STAGES * GRID_X, strips, h, out_h, pad_h), planes, h, w, plane_room, base + 128 + stage * room, base + 8 * stage);
    }
//= convolution/depthwise_tiles.cu, "if (++stage == STAGES) {" to "}"
  }
}
