// sm_90a, gfx90a, opencl: h=1080 w=1920 fh=5 fw=5 n=1 c=1 k=1 groups=1 stride=1 dilation=1 pad_h=2 pad_w=2 pad_bottom=2 pad_right=2 dtype=f32 layout=nchw precision=highest epilogue=x
// image:threads_x=16,threads_y=8,micro_x=4,micro_y=4,filter_in=shared,unrolled=row,blocks_per_unit=1

// convolution, image: every channel is an image that one filter slides over; a thread keeps MICRO_Y x MICRO_X outputs
// in registers and passes each row of the input once.
//
//     tile: a TILE_Y x TILE_X block of outputs          one thread: a window of the row below, in registers
//     and the FH - 1 rows, FW - 1 columns around it
//      +---------------------------+                      window  [ a b c d e f . . . ]    FW - 1 more than MICRO_X
//      |   +-------------------+   |                                | | | |
//      |   |  TILE_Y x TILE_X  |   |                      row iy adds to output row ry by row fy = iy - ry of the filter
//      |   +-------------------+   |
//      +---------------------------+                      for ry, rx, fx:
//                                                           sum[ry][rx] += window[rx + fx] * filter[iy - ry][fx]
//
//   out[y][x] = sum over fy < FH, fx < FW of in[y + fy - pad_h][x + fx - pad_w] * filter[fy][fx]
//
// Limit attacked: loads from shared memory. A value of the window serves MICRO_Y rows of taps, and a tap, which all
// threads read at once, serves MICRO_X outputs.

enum {
  FH = 5,
  FW = 5,
  TAPS = FH * FW,  // 25
  THREADS_X = 16,
  THREADS = 128,
  MICRO_X = 4,  // outputs per thread: neighbours in a row
  MICRO_Y = 4,  // and rows
  TILE_X = 64,
  TILE_Y = 32,
  IN_ROWS = TILE_Y + FH - 1,
  IN_PITCH = 68,  // columns of input, rounded up to whole vectors
  WINDOW = 8,
  FILTER_PITCH = 8,  // taps of a row, rounded up to whole vectors
  FULL_BEGIN = 3,  // input rows from here
  FULL_END = 5,   // to here serve every output row of a thread
};

// Adds what row iy of the thread's input gives to output row ry, by row fy of the filter.
DEVICE_FUNCTION void add_row(const f32* window, SHARED_PTR const f32* taps, int fy, f32* sum) {
  f32 tap[FILTER_PITCH];
  UNROLL
  for (int i = 0; i < FILTER_PITCH; i += 4) {
    const u32x4 v = SHARED_LOAD_16(taps + fy * FILTER_PITCH + i);  // one address for the whole block
    tap[i] = BITS_TO_F32(v.x), tap[i + 1] = BITS_TO_F32(v.y), tap[i + 2] = BITS_TO_F32(v.z), tap[i + 3] = BITS_TO_F32(v.w);
  }
  UNROLL
  for (int fx = 0; fx < FW; ++fx) {
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) sum[rx] = FMA(window[rx + fx], tap[fx], sum[rx]);
  }
}

// Shared memory -> registers: the window of one row.
DEVICE_FUNCTION void read_window(SHARED_PTR const f32* from, f32* window) {
  UNROLL
  for (int i = 0; i < WINDOW; i += 4) {
    const u32x4 v = SHARED_LOAD_16(from + i);
    window[i] = BITS_TO_F32(v.x), window[i + 1] = BITS_TO_F32(v.y);
    window[i + 2] = BITS_TO_F32(v.z), window[i + 3] = BITS_TO_F32(v.w);
  }
}

//= convolution/f32_split.cu, "// What an element of the output is made from, b" to "}" (2)

KERNEL_MIN_BLOCKS(128, 1, 1, 1) convolution_image(
    GLOBAL const f32* RESTRICT in,      // [n][c][h][w]
    GLOBAL const f32* RESTRICT filter,  // [c][FH][FW]
    GLOBAL f32* RESTRICT out,           // [n][c][out_h][out_w]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w
    DYNAMIC_SHARED_PARAM(f32, tile)) {
  DYNAMIC_SHARED(f32, tile);  // [IN_ROWS][IN_PITCH], then the filter [FH][FILTER_PITCH]
  SHARED_PTR f32* taps = tile + IN_ROWS * IN_PITCH;

  const int tiles_x = (out_w - 1) / TILE_X + 1;
  const int x0 = BLOCK_X % tiles_x * TILE_X;  // first output of the tile
  const int y0 = BLOCK_X / tiles_x * TILE_Y;
  const int x = THREAD_X % THREADS_X * MICRO_X;  // first output of the thread, in the tile
  const int y = THREAD_X / THREADS_X * MICRO_Y;

  const i64 planes = (i64)n * c;
  for (i64 plane = BLOCK_Y; plane < planes; plane += GRID_Y) {
    // Global memory -> shared memory; zeros outside the input.
    GLOBAL const f32* from = in + plane * h * w;
    UNROLL_N(4)
    for (int i = THREAD_X; i < IN_ROWS * IN_PITCH; i += THREADS) {
      const int from_y = y0 - pad_h + i / IN_PITCH;
      const int from_x = x0 - pad_w + i % IN_PITCH;
      const int inside = from_y >= 0 && from_y < h && from_x >= 0 && from_x < w;
      tile[i] = inside ? from[(i64)from_y * w + from_x] : 0.0f;
    }
    for (int i = THREAD_X; i < FH * FILTER_PITCH; i += THREADS) {
      const int fx = i % FILTER_PITCH;
      taps[i] = fx < FW ? filter[plane % c * TAPS + i / FILTER_PITCH * FW + fx] : 0.0f;
    }
    BARRIER();  // tile and filter are there

    f32 sum[MICRO_Y][MICRO_X];
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      UNROLL
      for (int rx = 0; rx < MICRO_X; ++rx) sum[ry][rx] = 0.0f;
    }

    // Shared memory -> registers, one row of input at a time.
    NO_UNROLL
    for (int iy = 0; iy < FULL_BEGIN; ++iy) {  // rows that only the upper outputs reach
      f32 window[WINDOW];
      read_window(tile + (y + iy) * IN_PITCH + x, window);
      UNROLL
      for (int ry = 0; ry < MICRO_Y; ++ry) {
        if (iy >= ry && iy < ry + FH) add_row(window, taps, iy - ry, sum[ry]);
      }
    }
    NO_UNROLL
    for (int iy = FULL_BEGIN; iy < FULL_END; ++iy) {  // rows that serve all outputs of the thread
//= convolution/image.cu, "f32 window[WINDOW];" to "for (int ry = 0; ry < MICRO_Y; ++ry) {"
        add_row(window, taps, iy - ry, sum[ry]);
      }
    }
    NO_UNROLL
    for (int iy = FULL_END; iy < MICRO_Y + FH - 1; ++iy) {  // rows that only the lower outputs reach
//= convolution/image.cu, "f32 window[WINDOW];" to "}" (2)

    // Registers -> global memory.
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      const int at_y = y0 + y + ry;
      if (at_y >= out_h) continue;
      UNROLL
      for (int rx = 0; rx < MICRO_X; rx += 4) {
        const int at_x = x0 + x + rx;
        const i64 at = (plane * out_h + at_y) * out_w + at_x;
        GLOBAL f32* to = out + at;
        if (out_w % 4 == 0 && at_x < out_w) {
          STORE_16(to, U32X4(F32_TO_BITS(sum[ry][rx]), F32_TO_BITS(sum[ry][rx + 1]), F32_TO_BITS(sum[ry][rx + 2]),
                             F32_TO_BITS(sum[ry][rx + 3])));
        } else {
          UNROLL
          for (int i = 0; i < 4; ++i) {
            if (at_x + i < out_w) to[i] = sum[ry][rx + i];
          }
        }
      }
    }
    BARRIER();  // nobody needs the tile before the next plane overwrites it
  }
}
