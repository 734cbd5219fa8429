// sm_90a, gfx90a, opencl: out_h=640 out_w=640 src_h=2160 src_w=3840 n=32 format=bgr filter=bilinear fit=stretch to=rgb layout=chw dtype=f32 matrix=bt601 pitch=11520 source_bytes=796262400
// pixels:pixels=2,order=together,loads=words,block_x=64,block_y=4

// preprocess, pixels: one thread computes PIXELS pixels of a row of `out`, neighbours.
//
//    source rows down.first and down.second:   [b g r b g r] at across.first of each pixel, in aligned words
//    out row y:  | x | x | x | x |   all loads of a thread are under way before the first is used
//
//    for each image, y, x:  out[c][y][x] = value[c] * scale_c + shift_c, value between four pixels of the source
//
// Limits attacked: loads under way, the number of loads (two or three words instead of six bytes), coordinates of rows, the number of stores.
// Where the pixels of one image lie and which part of `out` it fills. Coordinates are fractions of whole numbers,
// so that every variant, device and reference computes the same ones.
typedef struct {
  i64 first;       // bytes from `in` to its first pixel
  i64 pitch;       // bytes from one row to the next
  int w, h;        // pixels of the source
  int to_w, to_h;  // pixels of `out` that it fills
  int left, top;   // the first of them
} image_t;

DEVICE_FUNCTION image_t image_of(GLOBAL const i64* regions, i64 index, int out_w, int out_h) {
  GLOBAL const i64* region = regions + index * 5;
  image_t image;
  image.first = region[0];
  image.pitch = region[1];
  image.w = (int)region[2];
  image.h = (int)region[3];
  image.to_w = out_w;
  image.to_h = out_h;
  image.left = (out_w - image.to_w) / 2;
  image.top = (out_h - image.to_h) / 2;
  return image;
}

// The two source pixels around the centre of output pixel `place`, and the weight of the second.
typedef struct {
  int first, second;
  f32 part;
} taps_t;

DEVICE_FUNCTION taps_t taps_of(int place, int from, int to) {
  const int at = (2 * place + 1) * from - to;  // the centre, in units of 1 / (2 * to) of a source pixel
  const int whole = at > 0 ? (int)((u32)at / (u32)(2 * to)) : 0;
  taps_t taps;
  taps.first = whole;
  taps.second = MIN(whole + 1, from - 1);
  taps.part = at > 0 && whole < from - 1 ? (f32)(at - whole * 2 * to) / (f32)(2 * to) : 0.0f;
  return taps;
}

// Three numbers of a pixel: as its source holds them, or as `out` does.
typedef struct {
  f32 a, b, c;
} colour_t;

// What is done to each channel of `out`, and the value of the border before that.
typedef struct {
  f32 scale_0, scale_1, scale_2, shift_0, shift_1, shift_2, border;
} affine_t;

DEVICE_FUNCTION colour_t scaled(colour_t value, affine_t affine) {
  colour_t made;
  made.a = FMA(value.a, affine.scale_0, affine.shift_0);
  made.b = FMA(value.b, affine.scale_1, affine.shift_1);
  made.c = FMA(value.c, affine.scale_2, affine.shift_2);
  return made;
}

// From the source's numbers (bgr) to those of `out` (rgb), scaled and shifted.
DEVICE_FUNCTION colour_t finished(colour_t source, affine_t affine) {
  colour_t value;
  value.a = source.c;
  value.b = source.b;
  value.c = source.a;
  return scaled(value, affine);
}

// One pixel to `out`.
DEVICE_FUNCTION void store_pixel(GLOBAL f32* out, i64 image, int x, int y, int out_w, int out_h, colour_t value) {
  const i64 plane = (i64)out_h * out_w;
  GLOBAL f32* to = out + image * 3 * plane + (i64)y * out_w + x;
  to[0] = value.a;
  to[plane] = value.b;
  to[2 * plane] = value.c;
}

// A row of a source in global memory, and one of its pixels.
typedef struct {
  GLOBAL const u8* pixels;
} row_t;

DEVICE_FUNCTION row_t row_of(GLOBAL const u8* in, image_t image, int y) {
  row_t row;
  row.pixels = in + image.first + y * image.pitch;
  return row;
}

DEVICE_FUNCTION colour_t pixel_of(row_t row, int x) {
  colour_t pixel;
  pixel.a = (f32)row.pixels[3 * x];
  pixel.b = (f32)row.pixels[3 * x + 1];
  pixel.c = (f32)row.pixels[3 * x + 2];
  return pixel;
}

DEVICE_FUNCTION colour_t between(colour_t first, colour_t second, f32 part) {
  colour_t mixed;
  mixed.a = FMA(part, second.a - first.a, first.a);
  mixed.b = FMA(part, second.b - first.b, first.b);
  mixed.c = FMA(part, second.c - first.c, first.c);
  return mixed;
}

// The source at the centre of pixel (x, y) of the part of `out` that the image fills.
DEVICE_FUNCTION colour_t sample(GLOBAL const u8* in, image_t image, int x, int y) {
  const taps_t across = taps_of(x, image.w, image.to_w);
  const taps_t down = taps_of(y, image.h, image.to_h);
  const row_t above = row_of(in, image, down.first);
  const row_t below = row_of(in, image, down.second);
  return between(between(pixel_of(above, across.first), pixel_of(above, across.second), across.part),
                 between(pixel_of(below, across.first), pixel_of(below, across.second), across.part), down.part);
}

enum {
  BLOCK_ACROSS = 64,
  BLOCK_DOWN = 4,
  PIXELS = 2,
  SPAN = BLOCK_ACROSS * PIXELS,  // 128 pixels of a row
};

// Two neighbouring pixels of three bytes: bytes 0 to 3 and 4 to 5.
typedef struct {
  u32 low, high;
} pair_t;

// From the aligned words around them; `skipped` bytes of the first word come before them.
DEVICE_FUNCTION pair_t pair_from(u32 first, u32 second, u32 third, int skipped) {
  const u64 both = ((u64)second << 32 | first) >> (8 * skipped);
  pair_t pair;
  pair.low = (u32)both;
  pair.high = (u32)(both >> 32) | (skipped == 3 ? third << 8 : 0u);
  return pair;
}

DEVICE_FUNCTION colour_t between_pair(pair_t pair, f32 part) {
  colour_t first, second;
  first.a = (f32)(pair.low & 255u);
  first.b = (f32)(pair.low >> 8 & 255u);
  first.c = (f32)(pair.low >> 16 & 255u);
  second.a = (f32)(pair.low >> 24);
  second.b = (f32)(pair.high & 255u);
  second.c = (f32)(pair.high >> 8 & 255u);
  return between(first, second, part);
}

// PIXELS neighbours in a row to `out`, in pieces of 8 bytes where rows begin at multiples of them.
DEVICE_FUNCTION void store_run(GLOBAL f32* out, i64 image, int x, int y, int out_w, int out_h, const colour_t* values) {
  if (out_w % PIXELS == 0) {
    {
      GLOBAL f32* to = out + ((image * 3 + 0) * out_h + y) * out_w + x;
      u32 words[2];
      words[0] = F32_TO_BITS(values[0].a);
      words[1] = F32_TO_BITS(values[1].a);
      STORE_8(to + 0, U32X2(words[0], words[1]));
    }
    {
      GLOBAL f32* to = out + ((image * 3 + 1) * out_h + y) * out_w + x;
      u32 words[2];
      words[0] = F32_TO_BITS(values[0].b);
      words[1] = F32_TO_BITS(values[1].b);
      STORE_8(to + 0, U32X2(words[0], words[1]));
    }
    {
      GLOBAL f32* to = out + ((image * 3 + 2) * out_h + y) * out_w + x;
      u32 words[2];
      words[0] = F32_TO_BITS(values[0].c);
      words[1] = F32_TO_BITS(values[1].c);
      STORE_8(to + 0, U32X2(words[0], words[1]));
    }
    return;
  }
  UNROLL
  for (int i = 0; i < PIXELS; ++i) {
    if (x + i < out_w) store_pixel(out, image, x + i, y, out_w, out_h, values[i]);
  }
}

KERNEL(64, 4, 1) preprocess_pixels(
    GLOBAL const u8* RESTRICT in,        // [source_bytes], aligned to 16 bytes
    GLOBAL const i64* RESTRICT regions,  // [n][5]: first byte, pitch, width, height, first byte of U and V
    GLOBAL f32* RESTRICT out,  // [n][3][out_h][out_w]
    i32 n, i64 source_bytes, i32 out_w, i32 out_h, f32 scale_0, f32 scale_1, f32 scale_2, f32 shift_0, f32 shift_1,
    f32 shift_2, f32 border) {
  affine_t affine;
  affine.scale_0 = scale_0, affine.scale_1 = scale_1, affine.scale_2 = scale_2;
  affine.shift_0 = shift_0, affine.shift_1 = shift_1, affine.shift_2 = shift_2;
  affine.border = border;
  const int blocks_across = (out_w - 1) / SPAN + 1;
  const int x0 = BLOCK_X % blocks_across * SPAN + THREAD_X * PIXELS;
  const int y = BLOCK_X / blocks_across * BLOCK_DOWN + THREAD_Y;
  if (x0 >= out_w || y >= out_h) return;
  for (i64 index = BLOCK_Y; index < n; index += GRID_Y) {
    const image_t image = image_of(regions, index, out_w, out_h);
    const taps_t down = taps_of(MIN(MAX(y - image.top, 0), image.to_h - 1), image.h, image.to_h);
    taps_t across[PIXELS];
    UNROLL
    for (int i = 0; i < PIXELS; ++i)
      across[i] = taps_of(MIN(MAX(x0 + i - image.left, 0), image.to_w - 1), image.w, image.to_w);

    colour_t values[PIXELS];
    // The words around a pair end at most 6 bytes behind its row.
    const i64 above = image.first + down.first * image.pitch;
    const i64 below = image.first + down.second * image.pitch;
    if (MAX(above, below) + 3 * (i64)image.w + 8 <= source_bytes) {
      u32 words[PIXELS][6];
      UNROLL
      for (int i = 0; i < PIXELS; ++i) {
        const i64 upper = above + 3 * across[i].first;
        const i64 lower = below + 3 * across[i].first;
        GLOBAL const u8* from = in + upper - (upper & 3);
        words[i][0] = LOAD_4(from);
        words[i][1] = LOAD_4(from + 4);
        words[i][2] = LOAD_4_IF((upper & 3) == 3, from + 8);
        from = in + lower - (lower & 3);
        words[i][3] = LOAD_4(from);
        words[i][4] = LOAD_4(from + 4);
        words[i][5] = LOAD_4_IF((lower & 3) == 3, from + 8);
      }
      UNROLL
      for (int i = 0; i < PIXELS; ++i) {
        const int upper = (int)((above + 3 * across[i].first) & 3);
        const int lower = (int)((below + 3 * across[i].first) & 3);
        const pair_t first = pair_from(words[i][0], words[i][1], words[i][2], upper);
        const pair_t second = pair_from(words[i][3], words[i][4], words[i][5], lower);
        values[i] = between(between_pair(first, across[i].part), between_pair(second, across[i].part), down.part);
      }
    } else {
      UNROLL_N(1)
      for (int i = 0; i < PIXELS; ++i) {
        const int x = MIN(MAX(x0 + i - image.left, 0), image.to_w - 1);
        values[i] = sample(in, image, x, MIN(MAX(y - image.top, 0), image.to_h - 1));
      }
    }
    UNROLL
    for (int i = 0; i < PIXELS; ++i) {
      values[i] = finished(values[i], affine);
    }
    store_run(out, index, x0, y, out_w, out_h, values);
  }
}
