// sm_90a: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
// twice:block_size=256,load_bytes=16,unroll=4,min_blocks=0

// normalize, variant twice: a block walks along a row for what it is normalized by, and along it again, out of the
// last-level cache, to write.
//
//   row r:   | chunk 0 | chunk 1 | ... |      block r; chunk: 4 vectors of 8 elements for each of 256 threads
//
// Replaces: for each row: two passes for what it is normalized by, and one that writes softmax
// Limit: rows that no registers hold. A row is read from device memory once where the rows under way fit into the cache.

// e^(x - most); `most` is finite or positive infinity, see above().
DEVICE_FUNCTION f32 power(f32 x, f32 most) { return exp2((x - most) * 1.44269504088896341f); }

// What is subtracted from x so that nothing overflows. Of a row that holds -infinity alone it is 0; its results are NaN.
DEVICE_FUNCTION f32 above(f32 most) { return most == -F32_INFINITY ? 0.0f : most; }

// The result of x. The shift and the factor are those of the row.
DEVICE_FUNCTION f32 result_of(f32 x, f32 shift, f32 factor) {
  return power(x, shift) * factor;
}

typedef bf16_t element_t;
typedef bf16_t result_t;

typedef u32x4 load_t;  // elements: 8

DEVICE_FUNCTION void unpack_load(load_t words, f32* x) {
  x[0] = BF16_TO_F32(words.x & 0xffffu);
  x[1] = BF16_TO_F32(words.x >> 16);
  x[2] = BF16_TO_F32(words.y & 0xffffu);
  x[3] = BF16_TO_F32(words.y >> 16);
  x[4] = BF16_TO_F32(words.z & 0xffffu);
  x[5] = BF16_TO_F32(words.z >> 16);
  x[6] = BF16_TO_F32(words.w & 0xffffu);
  x[7] = BF16_TO_F32(words.w >> 16);
}

DEVICE_FUNCTION load_t pack_load(const f32* x) {
  return U32X4(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]), F32X2_TO_BF16X2(x[4], x[5]), F32X2_TO_BF16X2(x[6], x[7]));
}

typedef u32x4 store_t;  // elements: 8

DEVICE_FUNCTION void unpack_store(store_t words, f32* x) {
//= normalize/twice.cu, "x[0] = BF16_TO_F32(words.x & 0xffffu);" to "}"

DEVICE_FUNCTION store_t pack_store(const f32* x) {
  return U32X4(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]), F32X2_TO_BF16X2(x[4], x[5]), F32X2_TO_BF16X2(x[6], x[7]));
}

// Places of a row begin at its first whole vector: a row that begins inside a vector has its first elements at negative
// places. A vector is whole where all of its places lie in the row.
DEVICE_FUNCTION int is_whole(int at, int cols) { return at >= 0 && at + 8 <= cols; }

// The places of a vector that lie in the row, one by one: one text for all vectors of a thread.
DEVICE_FUNCTION void load_tail(GLOBAL const element_t* row, int at, int cols, f32* x) {
  UNROLL
  for (int e = 0; e < 8; ++e) x[e] = at + e >= 0 && at + e < cols ? BF16_TO_F32(row[at + e]) : -F32_INFINITY;
}
DEVICE_FUNCTION void store_tail(GLOBAL result_t* row, int at, int cols, const f32* y) {
  UNROLL
  for (int e = 0; e < 8; ++e)
    if (at + e >= 0 && at + e < cols) row[at + e] = F32_TO_BF16(y[e]);
}

// Loads 4 vectors of a row from place `at` on; outside of the row -F32_INFINITY.
DEVICE_FUNCTION void load_chunk(GLOBAL const element_t* row, int at, int cols, f32* x) {
  GLOBAL const element_t* from = row + at;
  const int at0 = at + 0;
  const load_t words0 = LOAD_16_IF(is_whole(at0, cols), from + 0);
  const int at1 = at + 2048;
  const load_t words1 = LOAD_16_IF(is_whole(at1, cols), from + 2048);
  const int at2 = at + 4096;
  const load_t words2 = LOAD_16_IF(is_whole(at2, cols), from + 4096);
  const int at3 = at + 6144;
  const load_t words3 = LOAD_16_IF(is_whole(at3, cols), from + 6144);
  unpack_load(words0, x + 0);
  if (!is_whole(at0, cols)) load_tail(row, at0, cols, x + 0);
  unpack_load(words1, x + 8);
  if (!is_whole(at1, cols)) load_tail(row, at1, cols, x + 8);
  unpack_load(words2, x + 16);
  if (!is_whole(at2, cols)) load_tail(row, at2, cols, x + 16);
  unpack_load(words3, x + 24);
  if (!is_whole(at3, cols)) load_tail(row, at3, cols, x + 24);
}

// Stores 4 vectors: the results of x.
DEVICE_FUNCTION void store_chunk(
    GLOBAL result_t* RESTRICT row, int at, int cols, int aligned, const f32* x, f32 shift, f32 factor) {
  GLOBAL result_t* to = row + at;
  {
    const int at_u = at + 0;
    f32 y[8];
    UNROLL
    for (int e = 0; e < 8; ++e) y[e] = result_of(x[0 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_16(to + 0, pack_store(y + 0));
    } else {
      store_tail(row, at_u, cols, y);
    }
  }
  {
    const int at_u = at + 2048;
    f32 y[8];
    UNROLL
    for (int e = 0; e < 8; ++e) y[e] = result_of(x[8 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_16(to + 2048, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 4096;
    f32 y[8];
    UNROLL
    for (int e = 0; e < 8; ++e) y[e] = result_of(x[16 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_16(to + 4096, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 6144;
    f32 y[8];
    UNROLL
    for (int e = 0; e < 8; ++e) y[e] = result_of(x[24 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_16(to + 6144, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "}" (2)
}

// All threads of the block call it; `scratch` is not used for anything else before the next barrier but one.
DEVICE_FUNCTION f32 team_sum(f32 value, SHARED_PTR f32* scratch) {
  UNROLL
  for (int mask = 16; mask > 0; mask /= 2) {
    const f32 other = SHUFFLE_XOR(value, mask);
    value = value + other;
  }
  // One value of each of the 8 warps of a team meets in each of them.
  const int lane = THREAD_X % 32;
  if (lane == 0) scratch[THREAD_X / 32] = value;
  BARRIER();  // every warp's value is in scratch
  value = scratch[THREAD_X / 256 * 8 + lane % 8];
  UNROLL
  for (int mask = 4; mask > 0; mask /= 2) {
    const f32 other = SHUFFLE_XOR(value, mask);
    value = value + other;
  }
  return value;
}

// All threads of the block call it; `scratch` is not used for anything else before the next barrier but one.
DEVICE_FUNCTION f32 team_max(f32 value, SHARED_PTR f32* scratch) {
  UNROLL
  for (int mask = 16; mask > 0; mask /= 2) {
    const f32 other = SHUFFLE_XOR(value, mask);
    value = MAX(value, other);
  }
//= normalize/twice.cu, "// One value of each of the 8 warps of a team me" to "const f32 other = SHUFFLE_XOR(value, mask);"
    value = MAX(value, other);
  }
  return value;
}

typedef struct {
  f32 a, b, c;
} statistics_t;

DEVICE_FUNCTION statistics_t nothing(void) {
  statistics_t s;
  s.a = -F32_INFINITY;
  s.b = 0.0f;
  s.c = 0.0f;
  return s;
}

// Adds the 32 elements of a chunk.
DEVICE_FUNCTION statistics_t add_chunk(statistics_t s, int at, int cols, f32* x) {
  f32 most = s.a;
  UNROLL
  for (int k = 0; k < 32; ++k) most = MAX(most, x[k]);
  f32 sum = s.b * power(s.a, above(most));
  UNROLL
  for (int k = 0; k < 32; ++k) sum += power(x[k], above(most));
  s.a = most;
  s.b = sum;
  return s;
}

// Joins the statistics of all 256 threads; all of them get the result.
DEVICE_FUNCTION statistics_t join(statistics_t s, SHARED_PTR f32* scratch, SHARED_PTR f32* more) {
  statistics_t all = s;
  all.a = team_max(s.a, scratch);
  all.b = team_sum(s.b * power(s.a, above(all.a)), more);
  return all;
}

// What result_of() takes.
DEVICE_FUNCTION f32 shift_of(statistics_t s) { return above(s.a); }
DEVICE_FUNCTION f32 factor_of(statistics_t s, int cols) {
  return 1.0f / s.b;
}

KERNEL(256, 1, 1) normalize_twice(
    GLOBAL const element_t* RESTRICT in,  // [rows][cols]
    i64 rows, i64 cols,
    GLOBAL result_t* RESTRICT out) {  // [rows][cols]
  SHARED f32 scratch[8];
  SHARED f32 more[8];

  const i64 row = BLOCK_X;
  const int length = (int)cols;
  const int begins = (int)(row * cols % 8);
  const int first = THREAD_X * 8 - begins;
  f32 x[32];

  statistics_t mine = nothing();
  NO_UNROLL
  for (int at = first; at < length; at += 8192) {
    load_chunk(in + row * cols, at, length, x);
    mine = add_chunk(mine, at, length, x);
  }
  mine = join(mine, scratch, more);
  const f32 shift = shift_of(mine);
  const f32 factor = factor_of(mine, length);

  // ---- the row again, from its end on, which the caches are most likely to hold
  const int rounds = (length - first + 8191) / 8192;
  NO_UNROLL
  for (int round = rounds - 1; round >= 0; --round) {
    const int at = first + round * 8192;
    load_chunk(in + row * cols, at, length, x);
    store_chunk(out + row * cols, at, length, begins == 0, x, shift, factor);
  }
}
