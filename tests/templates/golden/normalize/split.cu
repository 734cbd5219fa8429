// sm_90a: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
// split:block_size=256,load_bytes=16,unroll=1,min_blocks=0,rounds=1

// normalize, variant split: several blocks share a row. The first launch leaves statistics of each part, the second joins
// those of its row and writes.
//
//   row r:   | part 0 | part 1 | ... | part S-1 |      block r * S + s; a part is 1 chunks of 2048 elements
//   parts:   | s0 | s1 | ... |                         (workspace) three numbers each
//
// Replaces: for each row: two passes for what it is normalized by, and one that writes softmax
// Limit: idle compute units where there are few rows.

//= normalize/twice.cu, "// e^(x - most); `most` is finite or positive in" to "}" (7)

// Loads 1 vectors of a row from place `at` on; outside of the row -F32_INFINITY.
//= normalize/twice.cu, "DEVICE_FUNCTION void load_chunk(GLOBAL const ele" to "const load_t words0 = LOAD_16_IF(is_whole(at0, c"
  unpack_load(words0, x + 0);
  if (!is_whole(at0, cols)) load_tail(row, at0, cols, x + 0);
}

// Stores 1 vectors: the results of x.
//= normalize/twice.cu, "DEVICE_FUNCTION void store_chunk(" to "}" (3)
}

//= normalize/twice.cu, "// All threads of the block call it; `scratch` i" to "}" (8)

// Adds the 8 elements of a chunk.
DEVICE_FUNCTION statistics_t add_chunk(statistics_t s, int at, int cols, f32* x) {
  f32 most = s.a;
  UNROLL
  for (int k = 0; k < 8; ++k) most = MAX(most, x[k]);
  f32 sum = s.b * power(s.a, above(most));
  UNROLL
  for (int k = 0; k < 8; ++k) sum += power(x[k], above(most));
//= normalize/twice.cu, "s.a = most;" to "}" (3)

// Joins the statistics of two parts.
DEVICE_FUNCTION statistics_t join_two(statistics_t s, statistics_t other) {
  const f32 most = MAX(s.a, other.a);
  s.b = s.b * power(s.a, above(most)) + other.b * power(other.a, above(most));
  s.a = most;
  return s;
}

KERNEL(256, 1, 1) normalize_parts(
    GLOBAL const element_t* RESTRICT in,  // [rows][cols]
    i64 rows, i64 cols,
    GLOBAL f32* RESTRICT parts) {            // [rows][share][3]
  SHARED f32 scratch[8];
  SHARED f32 more[8];

  const i64 share = GRID_X / rows;
  const i64 row = BLOCK_X / share;
  const int length = (int)cols;
  const int begins = (int)(row * cols % 8);
  int at = (int)(BLOCK_X % share) * 2048 + THREAD_X * 8 - begins;
  statistics_t mine = nothing();
  NO_UNROLL
  for (int round = 0; round < 1; ++round, at += 2048) {
    f32 x[8];
//= normalize/twice.cu, "load_chunk(in + row * cols, at, length, x);" to "mine = join(mine, scratch, more);"
  if (THREAD_X == 0) {
    parts[3 * (i64)BLOCK_X] = mine.a;
    parts[3 * (i64)BLOCK_X + 1] = mine.b;
    parts[3 * (i64)BLOCK_X + 2] = mine.c;
  }
}

KERNEL(256, 1, 1) normalize_split(
    GLOBAL const element_t* RESTRICT in,  // [rows][cols]
    i64 rows, i64 cols,
    GLOBAL const f32* RESTRICT parts,                              // [rows][share][3]
    GLOBAL result_t* RESTRICT out) {                               // [rows][cols]
//= normalize/split.cu, "SHARED f32 scratch[8];" to "const int length = (int)cols;"
  statistics_t mine = nothing();
  for (i64 p = THREAD_X; p < share; p += 256) {
    statistics_t other;
    other.a = parts[3 * (row * share + p)];
    other.b = parts[3 * (row * share + p) + 1];
    other.c = parts[3 * (row * share + p) + 2];
    mine = join_two(mine, other);
  }
  mine = join(mine, scratch, more);
  const f32 shift = shift_of(mine);
  const f32 factor = factor_of(mine, length);

  const int begins = (int)(row * cols % 8);
  int at = (int)(BLOCK_X % share) * 2048 + THREAD_X * 8 - begins;
//= normalize/split.cu, "NO_UNROLL" to "load_chunk(in + row * cols, at, length, x);"
    store_chunk(out + row * cols, at, length, begins == 0, x, shift, factor);
  }
}
