// sm_90a, gfx90a, opencl: rows=1024 cols=1024 batch=1 dtype=f32
// tile:tile_rows=32,tile_cols=32,threads=256,pad=1,raster=rows

// transpose, tile: a tile turns in shared memory, so that both sides of the move walk along rows.
//
//             cols                 tile                   rows
//      +----+----+----+      a b c d  <- written     +----+----+
//      |    |    |    |      e f g h     by rows     |    |    |      for r, c of the tile:
// rows +----+----+----+  =>  i j k l                 +----+----+        tile[r][c] = in[row0 + r][col0 + c]
//      |    | ## |    |      m n o p                 |    | ## | cols for c, r of the tile:
//      +----+----+----+      ^ read by columns       +----+----+        out[col0 + c][row0 + r] = tile[r][c]
//                                                    |    |    |
//                                                    +----+----+
//
// A column of the tile would lie in few banks of shared memory. Padding moves each row on, and spreads it.
// Limit attacked: the strided side of the naive kernel, which used one element of each sector.

enum {
  TILE_ROWS = 32,  // rows of `in` in a tile
  TILE_COLS = 32,  // columns of `in` in a tile
  THREADS = 256,
  PITCH = TILE_COLS + 1,  // elements from one row of the tile to the next
  ELEMENTS = 4,  // elements that each thread moves
  IN_ROWS = THREADS / TILE_COLS,   // rows of the tile that the block loads at a time
  OUT_ROWS = THREADS / TILE_ROWS,  // columns of the tile that it stores at a time
};

// Where element (r, c) of the tile is kept.
DEVICE_FUNCTION int place(int r, int c) {
  return r * PITCH + c;
}

KERNEL(256, 1, 1) transpose_tile(
    GLOBAL const u32* RESTRICT in,  // [batch][rows][cols]
    GLOBAL u32* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch) {
  SHARED u32 tile[TILE_ROWS * PITCH];

  const int tiles_across = (cols - 1) / TILE_COLS + 1;
  const int tile_down = BLOCK_X / tiles_across;  // blocks walk along the rows of `in`
  const int tile_across = BLOCK_X % tiles_across;
  const i64 row0 = (i64)tile_down * TILE_ROWS;    // first row of `in` in this tile
  const i64 col0 = (i64)tile_across * TILE_COLS;  // first column
  const int height = (int)MIN((i64)TILE_ROWS, rows - row0);  // what the tile has of the matrix
  const int width = (int)MIN((i64)TILE_COLS, cols - col0);
  const int in_r = THREAD_X / TILE_COLS;   // this thread's first element when loading: along a row of `in`
  const int in_c = THREAD_X % TILE_COLS;
  const int out_c = THREAD_X / TILE_ROWS;  // and when storing: along a row of `out`
  const int out_r = THREAD_X % TILE_ROWS;

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    // Global memory -> tile, along rows of `in`.
    GLOBAL const u32* from = in + (b * rows + row0) * cols + col0;
    u32 held[ELEMENTS];  // all loads are under way before the first is waited for
    UNROLL
    for (int i = 0; i < ELEMENTS; ++i) {
      const int r = in_r + i * IN_ROWS;
      held[i] = r < height && in_c < width ? from[(i64)r * cols + in_c] : (u32)0;
    }
    UNROLL
    for (int i = 0; i < ELEMENTS; ++i) tile[place(in_r + i * IN_ROWS, in_c)] = held[i];
    BARRIER();  // the whole tile is there before anyone reads a column of it

    // Tile -> global memory, along rows of `out`.
    GLOBAL u32* to = out + (b * cols + col0) * rows + row0;
    UNROLL
    for (int i = 0; i < ELEMENTS; ++i) held[i] = tile[place(out_r, out_c + i * OUT_ROWS)];
    UNROLL
    for (int i = 0; i < ELEMENTS; ++i) {
      const int c = out_c + i * OUT_ROWS;
      if (out_r < height && c < width) to[(i64)c * rows + out_r] = held[i];
    }
    BARRIER();  // everyone has read the tile before the next matrix overwrites it
  }
}
