// sm_90a: h=56 w=56 fh=3 fw=3 n=32 c=128 k=128 groups=128 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f32 layout=nhwc precision=highest epilogue=x
// depthwise_tiles:channels=8,tile_x=16,tile_y=8,load_vector=1,micro_x=4,micro_y=2,stages=2,blocks_per_unit=1

// convolution, depthwise_tiles: channels lie innermost, and each is filtered by itself. The copy engine brings tiles of the
// input with their borders, zeros outside of it included, STAGES ahead; a thread then computes MICRO_Y x MICRO_X outputs of
// LOAD channels.
//
//      in                               tile, in shared memory                     a thread, in registers
//       +------------------+            +-----------------+ IN_ROWS rows of          window of a row  [ . . . . . . ]
//       |   +---------+    |  ------>   | . . . . . . . . | IN_COLS places             for a row of taps:
//       |   |         |    |  a copy    | .             . | of CHANNELS channels        sum[ry][rx] += window[rx * STRIDE + fx] * tap[fx]
//       |   +---------+    |            +-----------------+
//       +------------------+
//
// Limit attacked: the bandwidth of memory: copies need no instructions, and go on while tiles are computed.

//= convolution/depthwise.cu, "enum {" to "STRIDE = 1,"
  TILE_X = 16,
  TILE_Y = 8,
  CHANNELS = 8,  // of a tile
  LOAD = 1,  // channels of a thread
  WORDS = 1,  // 32-bit words that hold them
  MICRO_X = 4,
  MICRO_Y = 2,
  WINDOW = 6,  // places of a row that a thread's outputs see
  ROWS = (MICRO_Y - 1) * STRIDE + FH,
  IN_ROWS = 10,
  IN_COLS = 18,
  STAGES = 2,
  TILE_BYTES = 5760,
  ROOM = 5760,  // bytes of a stage
  THREADS = 128,
};

//= convolution/depthwise.cu, "typedef u32 element_t;  // bits of an element" to "}" (2)

//= convolution/depthwise.cu, "// What an element of the output is made from, b" to "}" (2)

// Shared memory -> registers: LOAD channels of a place.
DEVICE_FUNCTION void read_place(SHARED_PTR const element_t* from, u32 words[WORDS]) {
  words[0] = SHARED_LOAD_4(from);
}

// A tile's first outputs, and the image that it is of.
typedef struct {
  int x, y, image;
} tile_t;

DEVICE_FUNCTION tile_t tile_of(int tile, int tiles_x, int tiles_y) {
  tile_t at;
  at.x = tile % tiles_x * TILE_X;
  at.y = tile / tiles_x % tiles_y * TILE_Y;
  at.image = tile / tiles_x / tiles_y;
  return at;
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_depthwise_tiles(
    TENSOR_MAP_PARAM(map_in),
    GLOBAL const f32* RESTRICT filter,  // [c][FH][FW]
    GLOBAL element_t* RESTRICT out,           // [n][out_h][out_w][c]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w) {
  ALIGNED_SHARED(u8, shared);
  const u32 base = SHARED_ADDRESS(shared);  // STAGES tiles; barriers
  const u32 full = base + STAGES * ROOM;    // [STAGES]
  const int tiles_x = (out_w - 1) / TILE_X + 1;
  const int tiles_y = (out_h - 1) / TILE_Y + 1;
  const int tiles = n * tiles_x * tiles_y;
  if (THREAD_X == 0) {
    for (int s = 0; s < STAGES; ++s) MBARRIER_INIT(full + 8 * s, 1);
    MBARRIER_FENCE();
  }
  BARRIER();  // the barriers are there
  if (THREAD_X == 0) {
    for (int s = 0; s < STAGES && BLOCK_X + s * GRID_X < tiles; ++s) {
      const tile_t at = tile_of(BLOCK_X + s * GRID_X, tiles_x, tiles_y);
      MBARRIER_EXPECT(full + 8 * s, TILE_BYTES);
      TENSOR_LOAD_3D(base + s * ROOM, map_in, BLOCK_Y * CHANNELS, at.x * STRIDE - pad_w, at.image * h + at.y * STRIDE - pad_h, full + 8 * s);
    }
  }

  // Which outputs of a tile.
  const int channel_at = THREAD_X % (CHANNELS / LOAD) * LOAD;
  const int block = THREAD_X / (CHANNELS / LOAD);
  const int own_x = block % (TILE_X / MICRO_X) * MICRO_X;
  const int own_y = block / (TILE_X / MICRO_X) * MICRO_Y;
  const int channel = BLOCK_Y * CHANNELS + channel_at;
  f32 taps[FH][FW][LOAD];
  UNROLL
  for (int i = 0; i < TAPS; ++i) {
    UNROLL
    for (int v = 0; v < LOAD; ++v) taps[i / FW][i % FW][v] = channel < c ? filter[(i64)(channel + v) * TAPS + i] : 0.0f;
  }

  int stage = 0;
  u32 parity = 0;
  for (int tile = BLOCK_X; tile < tiles; tile += GRID_X) {
    const tile_t at = tile_of(tile, tiles_x, tiles_y);
    const int x0 = at.x + own_x;
    const int y0 = at.y + own_y;
    f32 sum[MICRO_Y][MICRO_X][LOAD];
    UNROLL
    for (int i = 0; i < MICRO_Y * MICRO_X * LOAD; ++i) sum[i / (MICRO_X * LOAD)][i / LOAD % MICRO_X][i % LOAD] = 0.0f;
    MBARRIER_WAIT(full + 8 * stage, parity);
    SHARED_PTR const element_t* from = (SHARED_PTR const element_t*)(shared + stage * ROOM) + (own_y * STRIDE * IN_COLS + own_x * STRIDE) * CHANNELS + channel_at;
    UNROLL
    for (int iy = 0; iy < ROWS; ++iy) {
      if ((u32)(y0 * STRIDE - pad_h + iy) >= (u32)h) continue;  // a row of another image
      u32 window[WINDOW][WORDS];
      UNROLL
      for (int i = 0; i < WINDOW; ++i) read_place(from + (iy * IN_COLS + i) * CHANNELS, window[i]);
      UNROLL
      for (int ry = 0; ry < MICRO_Y; ++ry) {
        const int fy = iy - ry * STRIDE;
        if (fy < 0 || fy >= FH) continue;
        UNROLL
        for (int fx = 0; fx < FW; ++fx) {
          UNROLL
          for (int rx = 0; rx < MICRO_X; ++rx) {
            UNROLL
            for (int v = 0; v < LOAD; ++v) sum[ry][rx][v] = FMA(value_of(window[rx * STRIDE + fx], v), taps[fy][fx][v], sum[ry][rx][v]);
          }
        }
      }
    }
    BARRIER();  // all have read the stage
    if (THREAD_X == 0 && tile + STAGES * GRID_X < tiles) {
      const tile_t next = tile_of(tile + STAGES * GRID_X, tiles_x, tiles_y);
      MBARRIER_EXPECT(full + 8 * stage, TILE_BYTES);
      TENSOR_LOAD_3D(base + stage * ROOM, map_in, BLOCK_Y * CHANNELS, next.x * STRIDE - pad_w, next.image * h + next.y * STRIDE - pad_h, full + 8 * stage);
    }
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }

    // Registers -> global memory.
    if (channel >= c) continue;
    GLOBAL element_t* to = out + (((i64)at.image * out_h + y0) * out_w + x0) * c + channel;
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      UNROLL
      for (int rx = 0; rx < MICRO_X; ++rx) {
        if (y0 + ry >= out_h || x0 + rx >= out_w) continue;
        const int further = (ry * out_w + rx) * c;
        store_channels(to + further, sum[ry][rx]);
      }
    }
  }
}
