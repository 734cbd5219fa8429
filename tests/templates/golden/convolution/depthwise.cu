// sm_90a, gfx90a, opencl: h=56 w=56 fh=3 fw=3 n=32 c=128 k=128 groups=128 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f32 layout=nhwc precision=highest epilogue=x
// depthwise:load_vector=1,lanes=8,places=16,micro_x=4,micro_y=2

// convolution, depthwise: channels lie innermost, and each is filtered by itself: a thread takes LOAD channels of a block of
// MICRO_Y x MICRO_X outputs, and reads each row of their windows once.
//
//      in[y][x][c]                      taps [TAPS][CHANNELS], in shared memory            sum, per thread
//       +------------------+              +----------------+                                    MICRO_X
//       | vvvv vvvv vvvv   |  window of   | vvvv           |  for a row of taps:              +---------+
//       |                  |  a row       |                |  sum[ry][rx][v] +=       MICRO_Y |  LOAD   |
//       +------------------+              +----------------+    window[..][v] * tap[v]        +---------+
//
// Neighbouring threads take neighbouring channels, so that loads are wide and whole lines are read.
//
// Limit attacked: the bandwidth of memory: there are only TAPS multiplications for an element.

enum {
  FH = 3,
  FW = 3,
  TAPS = FH * FW,  // 9
  STRIDE = 1,
  DILATION = 1,
  LOAD = 1,     // channels in a load
  WORDS = 1,          // 32-bit words that hold them
  LANES = 8,          // threads beside each other, LOAD channels each
  CHANNELS = LOAD * LANES,
  PLACES = 16,        // blocks of outputs
  THREADS = LANES * PLACES,
  MICRO_X = 4,
  MICRO_Y = 2,
  WINDOW = (MICRO_X - 1) * STRIDE + (FW - 1) * DILATION + 1,  // pixels of a row
  ROWS = (MICRO_Y - 1) * STRIDE + (FH - 1) * DILATION + 1,
};

typedef u32 element_t;  // bits of an element

DEVICE_FUNCTION f32 value_of(const u32* words, int i) {
  return BITS_TO_F32(words[i]);
}

DEVICE_FUNCTION void store_channels(GLOBAL element_t* to, const f32* x) {
  STORE_4(to, F32_TO_BITS(x[0]));
}

// LOAD elements; zeros where `yes` is 0.
DEVICE_FUNCTION void load_channels(int yes, GLOBAL const element_t* from, u32* words) {
  words[0] = LOAD_4_IF(yes, from);
}

//= convolution/f32_split.cu, "// What an element of the output is made from, b" to "}" (2)

KERNEL(THREADS, 1, 1) convolution_depthwise(
    GLOBAL const element_t* RESTRICT in,      // [n][h][w][c]
    GLOBAL const f32* RESTRICT filter,  // [c][FH][FW]
    GLOBAL element_t* RESTRICT out,           // [n][out_h][out_w][c]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w) {
  SHARED f32 taps[TAPS * CHANNELS];
  const int channel0 = BLOCK_Y * CHANNELS;  // of the block
  for (int i = THREAD_X; i < TAPS * CHANNELS; i += THREADS) {
    const int channel = channel0 + i % CHANNELS;
    taps[i] = channel < c ? filter[(i64)channel * TAPS + i / CHANNELS] : 0.0f;
  }
  BARRIER();  // taps are there

  const int blocks_x = (out_w - 1) / MICRO_X + 1;
  const int blocks_y = (out_h - 1) / MICRO_Y + 1;
  const int lane = THREAD_X % LANES;
  const int channel = channel0 + lane * LOAD;
  const i64 place = (i64)BLOCK_X * PLACES + THREAD_X / LANES;
  const i64 image = place / ((i64)blocks_x * blocks_y);
  if (channel >= c || image >= n) return;
  const int x0 = (int)(place % blocks_x) * MICRO_X;  // first output
  const int y0 = (int)(place / blocks_x % blocks_y) * MICRO_Y;
  const int from_x = x0 * STRIDE - pad_w;
  const int from_y = y0 * STRIDE - pad_h;

  f32 sum[MICRO_Y][MICRO_X][LOAD];
  UNROLL
  for (int i = 0; i < MICRO_Y * MICRO_X * LOAD; ++i) sum[i / (MICRO_X * LOAD)][i / LOAD % MICRO_X][i % LOAD] = 0.0f;

  UNROLL
  for (int iy = 0; iy < ROWS; ++iy) {
    const int y = from_y + iy;
    GLOBAL const element_t* row = in + ((image * h + y) * w) * c + channel;
    u32 window[WINDOW][WORDS];
    UNROLL
    for (int i = 0; i < WINDOW; ++i) {
      const int x = from_x + i;
      load_channels(y >= 0 && y < h && x >= 0 && x < w, row + (i64)x * c, window[i]);
    }
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      const int reach = iy - ry * STRIDE;  // rows of the input from the first that this output sees
      if (reach < 0 || reach % DILATION != 0 || reach / DILATION >= FH) continue;
      UNROLL
      for (int fx = 0; fx < FW; ++fx) {
        SHARED_PTR const f32* tap = taps + (reach / DILATION * FW + fx) * CHANNELS + lane * LOAD;
        UNROLL
        for (int v = 0; v < LOAD; ++v) {
          UNROLL
          for (int rx = 0; rx < MICRO_X; ++rx) {
            sum[ry][rx][v] = FMA(value_of(window[rx * STRIDE + fx * DILATION], v), tap[v], sum[ry][rx][v]);
          }
        }
      }
    }
  }

  UNROLL
  for (int ry = 0; ry < MICRO_Y; ++ry) {
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) {
      if (y0 + ry < out_h && x0 + rx < out_w) {
        const i64 at = ((image * out_h + y0 + ry) * out_w + x0 + rx) * c + channel;
        store_channels(out + at, sum[ry][rx]);
      }
    }
  }
}
