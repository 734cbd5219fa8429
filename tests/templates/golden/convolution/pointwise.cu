// sm_90a: h=56 w=56 fh=1 fw=1 n=32 c=256 k=64 groups=1 stride=1 dilation=1 pad_h=0 pad_w=0 pad_bottom=0 pad_right=0 dtype=f32 layout=nchw precision=highest epilogue=x
// pointwise:tile_n=32,consumers=2,stages=4,blocks_per_unit=1

// convolution, pointwise: a 1 x 1 layer in f32 on the matrix units, read as it lies. One thread copies boxes of 32 pixels and 32
// channels ahead; each warp has a box of its own, splits its values into bf16 planes in registers, and multiplies them there.
//
//                                     TILE_N channels of the output
//                                +-------------+            a box of A:  32 channels, rows of 32 pixels, f32
//                             32 |   tile_b    |            tile_b:      PLANES bf16 matrices whose sum are the filters,
//                                +-------------+                         packed by the step in front
//               32               +-------------+
//            +------+            | consumer 0  |            for channels g of the input:
//  128 pixels|A     |            |- - - - - - -|              out[pixel][c] += in[pixel][g] * filter[c][g]
//  of a      |      |            | consumer 1  |
//  consumer  +------+            +-------------+            six products of planes, the small ones first
//
//   global memory -> (tensor copies) shared memory -> registers, as planes -> (matrix units) registers -> out
//
// A lane's rows of the matrix unit are four pixels: neighbours, which it reads and stores at once.
// Limit attacked: memory: the input is read once, and nothing but the filters is packed.

enum {
  TILE_N = 32,
  TILE_K = 32,
  STAGES = 4,
  CONSUMERS = 2,  // warpgroups of 128 threads
  THREADS = 384,
  PLANES = 3,
  BOX = 32,                  // pixels of a warp
  BOX_BYTES = BOX * TILE_K * 4,
  BOXES = 4 * CONSUMERS,     // of a tile
  ROW = TILE_K * 2,          // bytes of a row of a plane: the width of the swizzle
  PLANE_B = TILE_N * ROW,
  BYTES_A = BOXES * BOX_BYTES,
  STAGE = BYTES_A + PLANES * PLANE_B,
  PARTS = 2,                 // of 64 rows, that a consumer multiplies
  SUMS = TILE_N / 2,         // of a thread, for each part
  PACK_THREADS = 256,
  PACK_RUN = 8,              // elements that a thread packs at a time
};

//= convolution/f32_split.cu, "// PACK_RUN values to run `at` of each plane: bf" to "}" (3)

KERNEL(PACK_THREADS, 1, 1) convolution_pack_filter(
    GLOBAL const f32* RESTRICT filter,   // [k][c]
    GLOBAL u16* RESTRICT packed_filter,  // [PLANES][k][whole TILE_K of c]
    i32 c, i32 k) {
  DEPENDENT_LAUNCH();
  const int runs = (c - 1) / TILE_K * (TILE_K / PACK_RUN) + TILE_K / PACK_RUN;  // of a filter
  const i64 at = (i64)BLOCK_X * PACK_THREADS + THREAD_X;
  if (at >= (i64)k * runs) return;
  const int first = (int)(at % runs) * PACK_RUN;
  f32 value[PACK_RUN];
  UNROLL
  for (int i = 0; i < PACK_RUN; ++i) {
    const int g = first + i;
    value[i] = g < c ? filter[at / runs * c + g] : 0.0f;
  }
  split_run(value, packed_filter, at, (i64)k * runs * PACK_RUN);
}

// d += a * b for 64 x TILE_N x 16, a in registers; with keep = 0, d = a * b.
DEVICE_FUNCTION void multiply(f32* d, const u32* a, u64 b, int keep) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %21, 0;"
      " wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16"
      " { %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 }, { %16, %17, %18, %19 }, %20, p, 1, 1, 0; }"
      :
      "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
      "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
      "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
      "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

// Shared memory -> registers: the lane's fragments of 16 channels, from `16 * half` on, of both parts, as planes.
DEVICE_FUNCTION void read_box(SHARED_PTR const u8* box, int lane, int half, u32 a[PARTS][PLANES][4]) {
  const int row = lane / 4;
  const int quarter = lane % 4;
  f32 x[4][4];  // [place along k][row]
  UNROLL
  for (int i = 0; i < 4; ++i) {
    // Place i along k is a channel; its rows are pixels 4 * row + 0 to 3.
    const int g = 2 * quarter + i % 2;  // of 8
    const u32x4 v = SHARED_LOAD_16(box + (16 * half + 8 * (i / 2) + g) * 128 + (row ^ g) * 16);
    x[i][0] = BITS_TO_F32(v.x), x[i][1] = BITS_TO_F32(v.y), x[i][2] = BITS_TO_F32(v.z), x[i][3] = BITS_TO_F32(v.w);
  }
  UNROLL
  for (int r = 0; r < 4; ++r) {
    UNROLL
    for (int j = 0; j < 2; ++j) {
      UNROLL
      for (int p = 0; p < PLANES; ++p) {
        const u32 word = F32X2_TO_BF16X2(x[2 * j][r], x[2 * j + 1][r]);
        x[2 * j][r] -= BITS_TO_F32(word << 16);
        x[2 * j + 1][r] -= BITS_TO_F32(word & 0xffff0000u);
        a[r / 2][p][2 * j + r % 2] = word;
      }
    }
  }
}

//= convolution/f32_split.cu, "// What an element of the output is made from, b" to "}" (2)

// What lies where: the product is of pixels and channels.
typedef struct {
  i64 pixels;  // of an image
  int c, k;
} shape_t;

// A sum as f32 adds it up, for what has no planes: infinities, and numbers that are none or nearly infinite.
DEVICE_FUNCTION f32 plain_sum(GLOBAL const f32* in, GLOBAL const f32* filter, shape_t shape, i64 image, i64 pixel, int col) {
  f32 sum = 0;
  NO_UNROLL
  for (int g = 0; g < shape.c; ++g) {
    sum = FMA(in[(image * shape.c + g) * shape.pixels + pixel], filter[(i64)col * shape.c + g], sum);
  }
  return sum;
}

DEVICE_FUNCTION i64 place_out(shape_t shape, i64 image, i64 pixel, int col) {
  return (image * shape.k + col) * shape.pixels + pixel;
}

// The element of the output from its sum.
DEVICE_FUNCTION f32 finished(f32 x, i64 at, int col, epilogue_t epilogue) {
  return finish(x, 0, 0, epilogue);
}

// Four neighbouring pixels of a channel.
DEVICE_FUNCTION void store_pixels(GLOBAL f32* out, shape_t shape, i64 image, i64 pixel, int col, const f32* x, epilogue_t epilogue) {
  if (col >= shape.k) return;
  const i64 at = place_out(shape, image, pixel, col);
  f32 rest[4] = {0, 0, 0, 0};
  const f32 bias = 0;
  u32 word[4];
  UNROLL
  for (int i = 0; i < 4; ++i) word[i] = F32_TO_BITS(finish(x[i], rest[i], bias, epilogue));
  STORE_16(out + at, U32X4(word[0], word[1], word[2], word[3]));
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_pointwise(
    TENSOR_MAP_PARAM(map_a), TENSOR_MAP_PARAM(map_b),
    GLOBAL const f32* RESTRICT in,      // [images][c][h][w]
    GLOBAL const f32* RESTRICT filter,  // [k][c]
    GLOBAL f32* RESTRICT out,           // [images][k][h][w]
    i32 images, i32 c, i32 h, i32 w, i32 k) {
  ALIGNED_SHARED(u8, shared);
  const u32 base = SHARED_ADDRESS(shared);  // STAGES of boxes, planes of tile_b; barriers
  const u32 full = base + STAGES * STAGE;   // [STAGES]
  const u32 empty = full + 8 * STAGES;      // [STAGES]
  const int warp = WARP_UNIFORM(THREAD_X / 32);
  const int group = warp / 4;  // warpgroup: a consumer, or, the last, the copying one

  const shape_t shape = {(i64)h * w, c, k};
  const int row_boxes = (int)((shape.pixels - 1) / BOX) + 1;  // of an image
  const int boxes = row_boxes * images;
  const int tiles_n = (k - 1) / TILE_N + 1;
  const int tiles = ((boxes - 1) / BOXES + 1) * tiles_n;
  const int steps = (c - 1) / TILE_K + 1;

  if (THREAD_X == 0) {
    for (int s = 0; s < STAGES; ++s) {
      MBARRIER_INIT(full + 8 * s, 1);
      MBARRIER_INIT(empty + 8 * s, 4 * CONSUMERS);  // each warp of the consumers
    }
//= convolution/wgmma.cu, "MBARRIER_FENCE();" to "BARRIER();  // the barriers are there"

//= convolution/f32_split.cu, "if (group == CONSUMERS) {" to "u32 parity = 1;"
      int packed = 0;
      for (int tile = BLOCK_X; tile < tiles; tile += GRID_X) {
        const int box0 = tile / tiles_n * BOXES;
        const int col0 = tile % tiles_n * TILE_N;
        for (int step = 0; step < steps; ++step) {
          const u32 to_a = base + stage * STAGE;
          const u32 there = full + 8 * stage;
          MBARRIER_WAIT(empty + 8 * stage, parity);
          MBARRIER_EXPECT(there, STAGE);
          UNROLL
          for (int i = 0; i < BOXES; ++i) {
            TENSOR_LOAD_3D(to_a + i * BOX_BYTES, map_a, (box0 + i) % row_boxes * BOX, step * TILE_K, (box0 + i) / row_boxes, there);
          }
          if (!packed) DEPENDENT_WAIT();  // for the packed filter
          packed = 1;
          UNROLL
          for (int p = 0; p < PLANES; ++p) TENSOR_LOAD_3D(to_a + BYTES_A + p * PLANE_B, map_b, step * TILE_K, col0, p, there);
//= convolution/f32_split.cu, "if (++stage == STAGES) {" to "REGISTERS_GROW(232);"
    const epilogue_t epilogue = { 0, 0 };
    f32 sum[PARTS][SUMS];
    f32 chunk[PARTS][SUMS];  // of one step: the matrix units cut sums off, so that few are added up there
    const u64 first_b = WGMMA_DESCRIPTOR(base + BYTES_A, 16, 8 * ROW, ROW);
    int stage = 0;
    u32 parity = 0;
    for (int tile = BLOCK_X; tile < tiles; tile += GRID_X) {
      UNROLL
      for (int i = 0; i < PARTS * SUMS; ++i) sum[i / SUMS][i % SUMS] = 0;
      const int lane = LANE();
      for (int step = 0; step < steps; ++step) {
        MBARRIER_WAIT(full + 8 * stage, parity);
        SHARED_PTR const u8* box = shared + stage * STAGE + warp * BOX_BYTES;
        const u64 b = first_b + (u32)(stage * (STAGE / 16));
        u32 a[2][PARTS][PLANES][4];
        UNROLL
        for (int half = 0; half < 2; ++half) {
          read_box(box, lane, half, a[half]);
          WGMMA_FENCE();
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][0], b + 2 * (PLANE_B / 16) + half * 2, half != 0);
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][2], b + 0 * (PLANE_B / 16) + half * 2, 1);
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][1], b + 1 * (PLANE_B / 16) + half * 2, 1);
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][0], b + 1 * (PLANE_B / 16) + half * 2, 1);
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][1], b + 0 * (PLANE_B / 16) + half * 2, 1);
          UNROLL
          for (int p = 0; p < PARTS; ++p) multiply(chunk[p], a[half][p][0], b + 0 * (PLANE_B / 16) + half * 2, 1);
          WGMMA_COMMIT();
        }
        WGMMA_WAIT(0);
        if (LANE() == 0) MBARRIER_ARRIVE(empty + 8 * stage);
        UNROLL
        for (int i = 0; i < 2 * PARTS * PLANES * 4; ++i) {
          asm volatile("" ::"r"(a[i / (PARTS * PLANES * 4)][i / (PLANES * 4) % PARTS][i / 4 % PLANES][i % 4]));  // kept until here
        }
        UNROLL
        for (int i = 0; i < PARTS * SUMS; ++i) {
          asm volatile("" : "+f"(chunk[i / SUMS][i % SUMS])::"memory");  // read no earlier
          sum[i / SUMS][i % SUMS] += chunk[i / SUMS][i % SUMS];
        }
//= convolution/f32_split.cu, "if (++stage == STAGES) {" (2) to "}"
      }

      // Registers -> out. Lane l holds rows l / 4 (+ 8) and columns 2 (l % 4) + 8 i (+ 1) of each part.
      const int of_box = tile / tiles_n * BOXES + warp;
      if (of_box >= boxes) continue;
      const i64 image = of_box / row_boxes;
      const i64 pixel0 = (i64)(of_box % row_boxes) * BOX + lane / 4 * 4;
      const int col0 = tile % tiles_n * TILE_N + lane % 4 * 2;
      u32 largest = 0;
      UNROLL
      for (int i = 0; i < PARTS * SUMS; ++i) largest = MAX(largest, F32_TO_BITS(sum[i / SUMS][i % SUMS]) & 0x7fffffffu);
      UNROLL
      for (int i = 0; i < TILE_N / 8; ++i) {
        const int col = col0 + i * 8;
        if (pixel0 >= shape.pixels) continue;
        UNROLL
        for (int e = 0; e < 2; ++e) {
          const f32 x[4] = {sum[0][4 * i + e], sum[0][4 * i + 2 + e], sum[1][4 * i + e], sum[1][4 * i + 2 + e]};
          store_pixels(out, shape, image, pixel0, col + e, x, epilogue);
        }
      }
      if (largest < 0x7f800000u) continue;
      NO_UNROLL
      for (int i = 0; i < TILE_N; ++i) {  // rare, so that it may be slow
        const int col = col0 + i / 8 * 8 + i % 2;
        const i64 pixel = pixel0 + i / 2 % 4;
        if (pixel >= shape.pixels || col >= k) continue;
        const i64 at = place_out(shape, image, pixel, col);
        out[at] = finished(plain_sum(in, filter, shape, image, pixel, col), at, col, epilogue);
      }
    }
  }
}
