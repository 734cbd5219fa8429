// sm_90a, opencl: rows=4 cols=1024 batch=1 dtype=f32
// shifted:tile_rows=64,line_words=64,threads=256,shift_bytes=32,raster=columns

// transpose, variant shifted: where the rows of `out` begin anywhere in a sector, each row's part of a tile is moved to
// begin at a multiple of 32 bytes, so that no two blocks write into one sector.
//
//      rows of `out`, 8 elements a sector:          a tile writes 64 elements of each row:
//        row c      |  .  |  .  |  .  |                      | [####|####] |
//        row c + 1    |  .  |  .  |  .  |                  | [####|####] |    earlier by how far the row is
//        row c + 2      |  .  |  .  |  .  |              | [####|####] |      behind the last sector
//
//   tile: 64 + 8 rows of `in`, the first 8 of them also in the tile above, by 64 columns
//   row c of the tile's part of `out`: elements  row0 - back(c) ... row0 - back(c) + 63,  back(c) = index of out[c][0] mod 8
//
// A thread's rows of `in` are a multiple of 1 apart, so they begin at the same place of a word. Its rows of `out` are taken in 2
// groups whose rows are a multiple of 8 apart, so back(c) is the same in a group: where its words lie is worked out once, and each is
// a constant further.
//
// Limit attacked: sectors that two blocks write in part (each is brought together in the cache if it stays there for long
// enough, and in memory otherwise; reading 8 rows twice costs less: the cache has them), and instructions and requests
// per byte: where no row begins at a vector, `vector` falls back to single elements.

enum {
  PER_WORD = 1,           // elements in a word of 4 bytes
  TILE_ROWS = 64,       // elements of a row of `out` that a tile writes
  TILE_COLS = 64,       // rows of `out` in a tile
  SHIFT = 8,            // elements in 32 bytes
  LINE = 64,             // words of a row of `in` that hold the tile's columns
  LOADED = TILE_ROWS + SHIFT,
  THREADS = 256,
  PITCH = LINE + 1,
  IN_ROWS = THREADS / LINE,             // rows of the tile that the block loads at a time
  OUT_WORDS = TILE_ROWS / PER_WORD,
  OUT_ROWS = THREADS / OUT_WORDS,       // columns of the tile that it stores at a time
  LOADS = LOADED / IN_ROWS,
  PHASES = 2,           // passes over the columns after which back(c) is the same again
  STRIDE = PHASES * OUT_ROWS,           // columns from one of a group to the next
  STORES = (TILE_COLS - 1) / STRIDE + 1,
};

typedef u32 word_t;
typedef u32 element_t;

// Where row r of the tile begins, in words.
DEVICE_FUNCTION int row_at(int r) {
  return r * PITCH;
}

// How many elements of its word stand in front of element [r][c] of `in`, the rows of all matrices counted.
DEVICE_FUNCTION int place_in_word(u32 r, u32 c, u32 cols) {
  return (int)((r * cols + c) & (PER_WORD - 1));
}

KERNEL(256, 1, 1) transpose_shifted(
    GLOBAL const element_t* RESTRICT in,  // [batch][rows][cols]
    GLOBAL element_t* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch) {
  SHARED word_t tile[4688];  // the last pass over the columns may look behind the end of a row
  const SHARED_PTR element_t* elements = (const SHARED_PTR element_t*)tile;

  const int tiles_down = (int)(((i64)rows + SHIFT - 2) / TILE_ROWS + 1);
  const int tile_down = BLOCK_X % tiles_down;  // blocks walk along the rows of `out`
  const int tile_across = BLOCK_X / tiles_down;
  const i64 row0 = (i64)tile_down * TILE_ROWS;    // first row of `in` in this tile
  const i64 col0 = (i64)tile_across * TILE_COLS;  // first column
  const i64 top = row0 - SHIFT;  // first row of `in` in the tile; the first tile begins above the matrix
  const int loaded_from = top < 0 ? (int)-top : 0;             // rows of the tile that are rows of `in`
  const int loaded_to = (int)MIN((i64)LOADED, rows - top);
  const int stored_from = row0 < SHIFT ? (int)-row0 : -SHIFT;  // elements around row0 that a row of `out` has
  const int stored_to = (int)MIN((i64)TILE_ROWS, rows - row0);
  const int width = (int)MIN((i64)TILE_COLS, cols - col0);     // columns that the tile has
  const int in_r = THREAD_X / LINE;        // this thread's first word when loading: along a row of `in`
  const int in_w = THREAD_X % LINE;
  const int out_c = THREAD_X / OUT_WORDS;  // and when storing: along a row of `out`
  const int out_r = THREAD_X % OUT_WORDS * PER_WORD;

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    // Global memory -> tile, along rows of `in`, by aligned words.
    const i64 first = (b * rows + top) * cols + col0;  // index of the tile's first element
    const u32 above = (u32)(b * rows + top);           // rows of `in` in front of the tile
    const int lead = place_in_word(above + in_r, (u32)col0, (u32)cols);
    GLOBAL const element_t* from = in + first + (i64)in_r * cols - lead + in_w * PER_WORD;  // the first of this thread's words
    const int wanted = in_w * PER_WORD < lead + width;
    const int load_to = wanted ? loaded_to : 0;
    word_t held[LOADS];  // all loads are under way before the first is waited for
    UNROLL
    for (int i = 0; i < LOADS; ++i) {
      const int r = in_r + i * IN_ROWS;
      held[i] = LOAD_4_IF(r >= loaded_from && r < load_to, from + (i64)(i * IN_ROWS) * cols);
    }
    UNROLL
    for (int i = 0; i < LOADS; ++i) tile[row_at(in_r + i * IN_ROWS) + in_w] = held[i];
    BARRIER();  // the whole tile is there before anyone reads a column of it

    // Tile -> global memory, along rows of `out`, from each row's own beginning.
    for (int phase = 0; phase < PHASES; ++phase) {
      const int c0 = out_c + phase * OUT_ROWS;              // the first of the group
      const i64 begin_out = (b * cols + col0 + c0) * rows;  // index of its first element
      const int r = out_r - ((int)begin_out & (SHIFT - 1));
      GLOBAL element_t* to = out + begin_out + row0 + r;
      const SHARED_PTR element_t* column[PER_WORD];
      UNROLL
      for (int j = 0; j < PER_WORD; ++j) {
        const int tile_r = SHIFT + r + j;
        column[j] = elements + row_at(tile_r) * PER_WORD + place_in_word(above + tile_r, (u32)col0, (u32)cols) + c0;
      }
      if (r >= stored_from && r + PER_WORD <= stored_to) {
        UNROLL_N(8)
        for (int i = 0; i < STORES; ++i) {
          const int c = i * STRIDE;
          const word_t word = column[0][c];
          if (c0 + c < width) STORE_4(to + (i64)c * rows, word);
        }
      }
    }
    BARRIER();  // everyone has read the tile before the next matrix overwrites it
  }
}
