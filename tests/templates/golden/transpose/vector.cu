// sm_90a, gfx90a, opencl: rows=1024 cols=1024 batch=1 dtype=f32
// vector:vector_bytes=16,patches_down=8,patches_across=16,patches_per_thread=1,hints=none,raster=rows

// transpose, vector: every access moves 16 bytes, to and from global memory and to and from shared memory.
//
// A patch is VECTOR x VECTOR elements: VECTOR vectors along rows of `in`. A thread loads patches, turns them in its
// registers, and keeps their columns, which are vectors along rows of `out`, in the tile.
//
//       in: a patch         turned in registers          tile: [TILE_COLS][PATCHES_DOWN] vectors
//      [ a  b  c  d ]        [ a  e  i  m ]           column c of `in`:  | v0 | v1 | v2 | ... |
//      [ e  f  g  h ]   =>   [ b  f  j  n ]     =>    stored as a run of row c of `out`
//      [ i  j  k  l ]        [ c  g  k  o ]
//      [ m  n  o  p ]        [ d  h  l  p ]           for r, c:  out[c * rows + r] = in[r * cols + c]
//
// Neighbouring patches lie VECTOR tile rows apart, all in the same banks, so vector v of row c is kept at
// v ^ (c / VECTOR): eight neighbours then write eight different places of a row of banks.
// Limit attacked: instructions and requests per byte; with narrow elements they, not the memory, set the pace.
// Rows that are no multiple of a vector long are not aligned: on that side, and in tiles that hang over an edge,
// neighbouring threads move neighbouring elements.

enum {
  VECTOR = 4,  // elements in a vector
  WORDS = 4,   // 32-bit words in a vector
  PATCHES_DOWN = 8,
  PATCHES_ACROSS = 16,
  PATCHES_PER_THREAD = 1,
  TILE_ROWS = PATCHES_DOWN * VECTOR,    // 32 rows of `in` in a tile
  TILE_COLS = PATCHES_ACROSS * VECTOR,  // 64 columns
  THREADS = 128,
  STORE_COLS = THREADS / PATCHES_DOWN,  // rows of `out` that the block stores at a time
};

typedef u32 element_t;
typedef u32x4 vector_t;

DEVICE_FUNCTION void unpack(vector_t v, u32* words) {
  words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
}

DEVICE_FUNCTION vector_t pack(const u32* words) {
  return U32X4(words[0], words[1], words[2], words[3]);
}

// turned[c] = column c of the patch.
DEVICE_FUNCTION void turn(u32 patch[VECTOR][WORDS], u32 turned[VECTOR][WORDS]) {
  UNROLL
  for (int r = 0; r < VECTOR; ++r) {
    UNROLL
    for (int c = 0; c < VECTOR; ++c) turned[c][r] = patch[r][c];
  }
}

// Where the tile keeps vector v of column c.
DEVICE_FUNCTION int place(int c, int v) {
  return c * PATCHES_DOWN + (v ^ (c / VECTOR & (PATCHES_DOWN - 1)));
}

KERNEL(128, 1, 1) transpose_vector(
    GLOBAL const element_t* RESTRICT in,  // [batch][rows][cols]
    GLOBAL element_t* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch) {
  SHARED vector_t tile[TILE_COLS * PATCHES_DOWN];  // [TILE_COLS][PATCHES_DOWN], swizzled
  SHARED_PTR element_t* elements = (SHARED_PTR element_t*)tile;

//= transpose/tile.cu, "const int tiles_across = (cols - 1) / TILE_COLS " to "const i64 col0 = (i64)tile_across * TILE_COLS;  "
  const int whole_tile = row0 + TILE_ROWS <= rows && col0 + TILE_COLS <= cols;
  const int rows_aligned = cols % VECTOR == 0;     // rows of `in` begin at multiples of a vector
  const int columns_aligned = rows % VECTOR == 0;  // rows of `out` do

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    GLOBAL const element_t* from = in + (b * rows + row0) * cols + col0;
    if (whole_tile && rows_aligned) {
      // Global memory -> registers, along rows of `in`.
      u32 patch[PATCHES_PER_THREAD][VECTOR][WORDS];
      UNROLL
      for (int p = 0; p < PATCHES_PER_THREAD; ++p) {
        const int id = THREAD_X + p * THREADS;
        GLOBAL const element_t* row = from + (i64)(id / PATCHES_ACROSS * VECTOR) * cols + id % PATCHES_ACROSS * VECTOR;
        UNROLL
        for (int i = 0; i < VECTOR; ++i, row += cols) unpack(LOAD_16(row), patch[p][i]);
      }
      // Registers -> tile, turned.
      UNROLL
      for (int p = 0; p < PATCHES_PER_THREAD; ++p) {
        const int id = THREAD_X + p * THREADS;
        const int c = id % PATCHES_ACROSS * VECTOR;
        u32 turned[VECTOR][WORDS];
        turn(patch[p], turned);
        UNROLL
        for (int i = 0; i < VECTOR; ++i) tile[place(c + i, id / PATCHES_ACROSS)] = pack(turned[i]);
      }
    } else {
      // Global memory -> tile, element by element.
      UNROLL_N(4)
      for (int i = THREAD_X; i < TILE_ROWS * TILE_COLS; i += THREADS) {
        const int r = i / TILE_COLS;
        const int c = i % TILE_COLS;
        if (row0 + r < rows && col0 + c < cols) {
          elements[place(c, r / VECTOR) * VECTOR + r % VECTOR] = from[(i64)r * cols + c];
        }
      }
    }
    BARRIER();  // the whole tile is there before anyone reads a row of `out` from it

    GLOBAL element_t* to = out + (b * cols + col0) * rows + row0;
    if (whole_tile && columns_aligned) {
      // Tile -> global memory, along rows of `out`.
      const int v = THREAD_X % PATCHES_DOWN;
      const int c = THREAD_X / PATCHES_DOWN;
      GLOBAL element_t* row = to + (i64)c * rows + v * VECTOR;
      UNROLL
      for (int i = 0; i < TILE_COLS; i += STORE_COLS, row += (i64)STORE_COLS * rows) {
        STORE_16(row, tile[place(c + i, v)]);
      }
    } else {
      // Tile -> global memory, element by element.
      UNROLL_N(4)
      for (int i = THREAD_X; i < TILE_ROWS * TILE_COLS; i += THREADS) {
        const int r = i % TILE_ROWS;
        const int c = i / TILE_ROWS;
        if (row0 + r < rows && col0 + c < cols) {
          to[(i64)c * rows + r] = elements[place(c, r / VECTOR) * VECTOR + r % VECTOR];
        }
      }
    }
    BARRIER();  // everyone has read the tile before the next matrix overwrites it
  }
}
