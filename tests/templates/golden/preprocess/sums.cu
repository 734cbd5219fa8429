// sm_90a, gfx90a, opencl: out_h=640 out_w=640 src_h=2160 src_w=3840 n=32 format=bgr filter=area fit=stretch to=rgb layout=chw dtype=f32 matrix=bt601 pitch=11520 source_bytes=796262400
// sums:tile_w=128,tile_h=8,threads=128,lanes=64,load_bytes=8,batch_rows=2,room=6144

// preprocess, sums: a block walks down the source rows under its tile; rows are added up first, columns then.
//
//    source rows under a tile:    [================]   LOAD_BYTES a load; each thread adds up its columns
//                                 [================]   with the weights of the rows; a row that two rows of `out`
//                                 [================]   share counts for both
//    sums: [TILE_H][stride] f32   [================]
//                                   \  |  /
//    out: | x | x | x | x |       columns under a pixel, with their weights; for each image, y, x:
//                                 out[c][y][x] = value[c] * scale_c + shift_c
//
// Weights are whole numbers: sums of columns are exact, below 2^24.
// Limit attacked: loads, bytes and conversions. Each byte under a part of the tile is requested and taken out of its
// word once, while the next ROWS rows are under way. A tile whose sums need more than ROOM reads pixel by pixel.
//= preprocess/pixels.cu, "// Where the pixels of one image lie and which p" to "}" (2)

// The source pixels under output pixel `place`: begin .. last. In units of 1 / to of a source pixel they are covered
// from place * from to (place + 1) * from.
DEVICE_FUNCTION int first_under(int place, int from, int to) { return (int)((u32)(place * from) / (u32)to); }
DEVICE_FUNCTION int last_under(int place, int from, int to) {
  return (int)((u32)((place + 1) * from - 1) / (u32)to);
}
// How much of source pixel `i` is covered: 1 to `to`. The sum over i is `from`.
DEVICE_FUNCTION int covered(int i, int place, int from, int to) {
  return MIN((place + 1) * from, (i + 1) * to) - MAX(place * from, i * to);
}

// The pixels under one output pixel with their weights; those between the first and the last one are covered whole.
typedef struct {
  int first, last;
  int of_first, of_last, of_others;
} span_t;

DEVICE_FUNCTION span_t span_of(int place, int from, int to) {
  span_t span;
  span.first = first_under(place, from, to);
  span.last = last_under(place, from, to);
  span.of_first = covered(span.first, place, from, to);
  span.of_last = covered(span.last, place, from, to);
  span.of_others = to;
  return span;
}
DEVICE_FUNCTION int weight_of(span_t span, int i) {
  return i == span.first ? span.of_first : i == span.last ? span.of_last : span.of_others;
}

//= preprocess/pixels.cu, "// Three numbers of a pixel: as its source holds" to "}" (8)

// The mean of the source under pixel (x, y) of the part of `out` that the image fills. The sums of a row are exact:
// their weights are whole numbers, and their sum is the width of the image.
DEVICE_FUNCTION colour_t sample(GLOBAL const u8* in, image_t image, int x, int y) {
  const span_t across = span_of(x, image.w, image.to_w);
  const span_t down = span_of(y, image.h, image.to_h);
  colour_t sum;
  sum.a = sum.b = sum.c = 0.0f;
  for (int j = down.first; j <= down.last; ++j) {
    const row_t row = row_of(in, image, j);
    const f32 weight = (f32)weight_of(down, j);
    colour_t along;
    along.a = along.b = along.c = 0.0f;
    for (int i = across.first; i <= across.last; ++i) {
      const colour_t pixel = pixel_of(row, i);
      const f32 part = (f32)weight_of(across, i);
      along.a = FMA(part, pixel.a, along.a);
      along.b = FMA(part, pixel.b, along.b);
      along.c = FMA(part, pixel.c, along.c);
    }
    sum.a = FMA(weight, along.a, sum.a);
    sum.b = FMA(weight, along.b, sum.b);
    sum.c = FMA(weight, along.c, sum.c);
  }
  const f32 share = 1.0f / ((f32)image.w * (f32)image.h);
  sum.a *= share;
  sum.b *= share;
  sum.c *= share;
  return sum;
}

enum {
  TILE_W = 128,
  TILE_H = 8,
  THREADS = 128,
  ROOM = 6144,                                   // sums that fit
  LANES = 64,                                 // threads that walk down together
  PART_H = TILE_H / (THREADS / LANES),           // 4 rows of `out` for each walk
  LOAD_BYTES = 8,
  WORDS = LOAD_BYTES / 4,
  ROWS = 2,                                    // rows of the source whose loads are under way
};

// How the rows of an image can be read: whole loads; aligned words, shifted; byte by byte, at the end of `in`.
enum { ALIGNED = 0, SHIFTED = 1, BYTES = 2 };

// LOAD_BYTES bytes from `at` on, as they come; SHIFTED has the bytes in front of them in its first word.
DEVICE_FUNCTION void load_columns(GLOBAL const u8* in, i64 at, i64 source_bytes, int access, int yes, u32* words) {
  if (access == ALIGNED) {
    const u32x2 loaded = LOAD_8_IF(yes, in + at);
    words[0] = loaded.x, words[1] = loaded.y;
  } else if (access == SHIFTED) {
    UNROLL
    for (int i = 0; i < WORDS + 1; ++i) words[i] = LOAD_4_IF(yes, in + at - (at & 3) + 4 * i);
  } else {
    UNROLL
    for (int i = 0; i < WORDS; ++i) {
      words[i] = 0;
      for (int j = 0; j < 4; ++j) {
        if (yes && at + 4 * i + j < source_bytes) words[i] |= (u32)in[at + 4 * i + j] << (8 * j);
      }
    }
  }
}

KERNEL(128, 1, 1) preprocess_sums(
//= preprocess/pixels.cu, "GLOBAL const u8* RESTRICT in,        // [source_" to "affine.border = border;"
  SHARED f32 sums[ROOM];
  const int tiles_across = (out_w - 1) / TILE_W + 1;
  const int x0 = BLOCK_X % tiles_across * TILE_W;
  const int y0 = BLOCK_X / tiles_across * TILE_H;
  const int x = x0 + THREAD_X % TILE_W;
  for (i64 index = BLOCK_Y; index < n; index += GRID_Y) {
    const image_t image = image_of(regions, index, out_w, out_h);
    // The bytes of a row that the tile needs; it may hang over the image.
    const int from_x = MIN(MAX(x0 - image.left, 0), image.to_w - 1);
    const int last_x = MIN(MAX(x0 + TILE_W - 1 - image.left, 0), image.to_w - 1);
    const int needed = 3 * first_under(from_x, image.w, image.to_w);
    const int end = 3 * last_under(last_x, image.w, image.to_w) + 3;
    // Rows that are aligned alike are read from an aligned byte on; it may lie before the image, inside `in`.
    const int alike = (image.pitch & (LOAD_BYTES - 1)) == 0;
    const int before = alike ? (int)((image.first + needed) & (LOAD_BYTES - 1)) : 0;
    const int begin = needed - before;
    const int chunks = (end - begin + LOAD_BYTES - 1) / LOAD_BYTES;
    const int stride = chunks * LOAD_BYTES;
    const int fits = stride <= ROOM / TILE_H;

    if (fits) {
      // Global memory -> registers -> sums of columns in shared memory.
      const int part = y0 + THREAD_X / LANES * PART_H;
      const int first_y = MAX(part - image.top, 0);
      const int last_y = MIN(part + PART_H - 1 - image.top, image.to_h - 1);
      const int top = first_under(MIN(first_y, image.to_h - 1), image.h, image.to_h);
      const int bottom = first_y <= last_y ? last_under(last_y, image.h, image.to_h) : top - 1;
      const i64 behind = image.first + bottom * image.pitch + begin + stride;
      const int access = alike && behind <= source_bytes ? ALIGNED : behind + 4 <= source_bytes ? SHIFTED : BYTES;
      for (int chunk = THREAD_X % LANES; chunk < chunks; chunk += LANES) {
        const i64 at = image.first + begin + LOAD_BYTES * chunk;
        SHARED_PTR f32* to = sums + (first_y + image.top - y0) * stride + LOAD_BYTES * chunk;
        int left = last_y - first_y + 1;             // rows of `out` that are not done
        int row_begin = top * image.to_h;            // in units of 1 / to_h of a source row: the next row,
        int pixel_begin = first_y * image.h;         // and the row of `out` that is added up
        u32 column[LOAD_BYTES];
        UNROLL
        for (int i = 0; i < LOAD_BYTES; ++i) column[i] = 0;
        u32 coming[ROWS][WORDS + 1];
        UNROLL
        for (int r = 0; r < ROWS; ++r)
          load_columns(in, at + (top + r) * image.pitch, source_bytes, access, top + r <= bottom, coming[r]);
        for (int j = top; j <= bottom; j += ROWS) {
          u32 words[ROWS][WORDS + 1];
          UNROLL
          for (int r = 0; r < ROWS; ++r) {
            UNROLL
            for (int i = 0; i < WORDS + 1; ++i) words[r][i] = coming[r][i];
          }
          UNROLL
          for (int r = 0; r < ROWS; ++r) {
            const int next = j + ROWS + r;
            load_columns(in, at + next * image.pitch, source_bytes, access, next <= bottom, coming[r]);
          }
          UNROLL
          for (int r = 0; r < ROWS; ++r) {
            if (j + r > bottom) continue;
            if (access == SHIFTED) {
              const int skipped = (int)((at + (j + r) * image.pitch) & 3);
              UNROLL
              for (int i = 0; i < WORDS; ++i)
                words[r][i] = (u32)(((u64)words[r][i + 1] << 32 | words[r][i]) >> (8 * skipped));
            }
            const int row_end = row_begin + image.to_h;
            u32 weight = (u32)(MIN(row_end, pixel_begin + image.h) - MAX(row_begin, pixel_begin));
            UNROLL
            for (int i = 0; i < LOAD_BYTES; ++i) column[i] += weight * (words[r][i / 4] >> (i % 4 * 8) & 255u);
            while (left > 0 && row_end >= pixel_begin + image.h) {  // a row of `out` is done
              UNROLL
              for (int i = 0; i < LOAD_BYTES; i += 4) {
                SHARED_STORE_16(to + i, U32X4(F32_TO_BITS((f32)column[i]), F32_TO_BITS((f32)column[i + 1]),
                                              F32_TO_BITS((f32)column[i + 2]), F32_TO_BITS((f32)column[i + 3])));
              }
              to += stride;
              --left;
              pixel_begin += image.h;
              weight = (u32)(MIN(row_end, pixel_begin + image.h) - pixel_begin);  // what is left of the source row
              UNROLL
              for (int i = 0; i < LOAD_BYTES; ++i) column[i] = weight * (words[r][i / 4] >> (i % 4 * 8) & 255u);
            }
            row_begin = row_end;
          }
        }
      }
      BARRIER();  // all columns are added up before a pixel is computed from them
    }

    // Shared memory -> out.
    const int inside_x = MIN(MAX(x - image.left, 0), image.to_w - 1);
    const span_t across = span_of(inside_x, image.w, image.to_w);
    const f32 share = 1.0f / ((f32)image.w * (f32)image.h);
    UNROLL
    for (int row = THREAD_X / TILE_W; row < TILE_H; row += THREADS / TILE_W) {
      const int y = y0 + row;
      if (x >= out_w || y >= out_h) continue;
      colour_t value;
      {
        if (fits) {
          const int from = row * stride - begin;
          value.a = value.b = value.c = 0.0f;
          for (int i = across.first; i <= across.last; ++i) {
            const f32 weight = (f32)weight_of(across, i);
            value.a = FMA(weight, sums[from + 3 * i], value.a);
            value.b = FMA(weight, sums[from + 3 * i + 1], value.b);
            value.c = FMA(weight, sums[from + 3 * i + 2], value.c);
          }
          value.a *= share;
          value.b *= share;
          value.c *= share;
        } else {
          value = sample(in, image, inside_x, y - image.top);
        }
        value = finished(value, affine);
      }
      store_pixel(out, index, x, y, out_w, out_h, value);
    }
    BARRIER();  // everyone has read the sums before the next image overwrites them
  }
}
