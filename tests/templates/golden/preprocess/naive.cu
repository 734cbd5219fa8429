// sm_90a, gfx90a, opencl: out_h=640 out_w=640 src_h=2160 src_w=3840 n=32 format=bgr filter=bilinear fit=stretch to=rgb layout=chw dtype=f32 matrix=bt601 pitch=11520 source_bytes=796262400
// preprocess: out[n, c, y, x] = scale_c * resize(source n)[y, x, c] + shift_c: u8 images of any size and pitch to one size
// Variant naive: one thread per pixel: a load for every byte, and all coordinates anew
//
//   format  = bgr       bytes of a source pixel; nv12: a plane of Y, and pairs of U and V for each 2 x 2 pixels
//   filter  = bilinear  bilinear: between the four nearest pixels; area: the mean of what lies under an output pixel
//   fit     = stretch   stretch: fills the output; letterbox: keeps proportions, centred in a border
//   to      = rgb       order of the output's channels
//   layout  = chw       chw: out is [n, 3, out_h, out_w]; hwc: [n, out_h, out_w, 3]
//   dtype   = f32       element type of the output
//   block_x = 64        threads along a row of the output
//   block_y = 2         rows of the output
//

// preprocess, naive: one thread computes one pixel of `out`, all three channels.
//
//    source: w x h, bgr             out: out_w x out_h, rgb
//    +----------------+             +------------+    for each image, y, x:
//    |  o  o          |             |            |      value = source at ((x + 0.5) * w / to_w - 0.5, the same of y), bilinear
//    |  o  o          |     =>      |    x       |      out[c][y][x] = value[c] * scale_c + shift_c
//    |                |             |            |
//    +----------------+             +------------+
//
// Limit: a load for every byte, and every coordinate is computed anew for each pixel.
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
  BLOCK_DOWN = 2,
};

KERNEL(64, 2, 1) preprocess_naive(
    GLOBAL const u8* RESTRICT in,        // [source_bytes], aligned to 16 bytes
    GLOBAL const i64* RESTRICT regions,  // [n][5]: first byte, pitch, width, height, first byte of U and V
    GLOBAL f32* RESTRICT out,  // [n][3][out_h][out_w]
    i32 n, i64 source_bytes, i32 out_w, i32 out_h, f32 scale_0, f32 scale_1, f32 scale_2, f32 shift_0, f32 shift_1,
    f32 shift_2, f32 border) {
  affine_t affine;
  affine.scale_0 = scale_0, affine.scale_1 = scale_1, affine.scale_2 = scale_2;
  affine.shift_0 = shift_0, affine.shift_1 = shift_1, affine.shift_2 = shift_2;
  affine.border = border;
  const int blocks_across = (out_w - 1) / BLOCK_ACROSS + 1;
  const int x = BLOCK_X % blocks_across * BLOCK_ACROSS + THREAD_X;
  const int y = BLOCK_X / blocks_across * BLOCK_DOWN + THREAD_Y;
  if (x >= out_w || y >= out_h) return;
  for (i64 index = BLOCK_Y; index < n; index += GRID_Y) {
    const image_t image = image_of(regions, index, out_w, out_h);
    const colour_t source = sample(in, image, x - image.left, y - image.top);
    store_pixel(out, index, x, y, out_w, out_h, finished(source, affine));
  }
}
