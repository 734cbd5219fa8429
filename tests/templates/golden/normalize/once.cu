// sm_90a: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
// once:block_size=1024,load_bytes=8,unroll=8,min_blocks=0,lanes=1024

// normalize, variant once: 1024 threads keep a row of up to 32768 elements in registers; 1 rows a block.
//
//   row r:   | vector 0 | vector 1 | ... |      thread l of a row has vectors l, l + 1024, ...: 8 of 4 elements
//   out:     | vector 0 | vector 1 | ... |
//
// Replaces: for each row: two passes for what it is normalized by, and one that writes softmax
// Limit: reading a row twice. Every element is read once and written once.

//= normalize/twice.cu, "// e^(x - most); `most` is finite or positive in" to "DEVICE_FUNCTION f32 result_of(f32 x, f32 shift, "
  return x * factor;
}

typedef bf16_t element_t;
typedef bf16_t result_t;

typedef u32x2 load_t;  // elements: 4

//= normalize/twice.cu, "DEVICE_FUNCTION void unpack_load(load_t words, f" to "x[3] = BF16_TO_F32(words.y >> 16);"
}

DEVICE_FUNCTION load_t pack_load(const f32* x) {
  return U32X2(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]));
}

typedef u32x2 store_t;  // elements: 4

//= normalize/twice.cu, "DEVICE_FUNCTION void unpack_store(store_t words," to "x[3] = BF16_TO_F32(words.y >> 16);"
}

DEVICE_FUNCTION store_t pack_store(const f32* x) {
  return U32X2(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]));
}

// Places of a row begin at its first whole vector: a row that begins inside a vector has its first elements at negative
// places. A vector is whole where all of its places lie in the row.
DEVICE_FUNCTION int is_whole(int at, int cols) { return at >= 0 && at + 4 <= cols; }

// The places of a vector that lie in the row, one by one: one text for all vectors of a thread.
DEVICE_FUNCTION void load_tail(GLOBAL const element_t* row, int at, int cols, f32* x) {
  UNROLL
  for (int e = 0; e < 4; ++e) x[e] = at + e >= 0 && at + e < cols ? BF16_TO_F32(row[at + e]) : -F32_INFINITY;
}
DEVICE_FUNCTION void store_tail(GLOBAL result_t* row, int at, int cols, const f32* y) {
  UNROLL
  for (int e = 0; e < 4; ++e)
    if (at + e >= 0 && at + e < cols) row[at + e] = F32_TO_BF16(y[e]);
}

// Loads 8 vectors of a row from place `at` on; outside of the row -F32_INFINITY.
DEVICE_FUNCTION void load_chunk(GLOBAL const element_t* row, int at, int cols, f32* x) {
  GLOBAL const element_t* from = row + at;
  const int at0 = at + 0;
  const load_t words0 = LOAD_8_IF(is_whole(at0, cols), from + 0);
  const int at1 = at + 4096;
  const load_t words1 = LOAD_8_IF(is_whole(at1, cols), from + 4096);
  const int at2 = at + 8192;
  const load_t words2 = LOAD_8_IF(is_whole(at2, cols), from + 8192);
  const int at3 = at + 12288;
  const load_t words3 = LOAD_8_IF(is_whole(at3, cols), from + 12288);
  const int at4 = at + 16384;
  const load_t words4 = LOAD_8_IF(is_whole(at4, cols), from + 16384);
  const int at5 = at + 20480;
  const load_t words5 = LOAD_8_IF(is_whole(at5, cols), from + 20480);
  const int at6 = at + 24576;
  const load_t words6 = LOAD_8_IF(is_whole(at6, cols), from + 24576);
  const int at7 = at + 28672;
  const load_t words7 = LOAD_8_IF(is_whole(at7, cols), from + 28672);
  unpack_load(words0, x + 0);
  if (!is_whole(at0, cols)) load_tail(row, at0, cols, x + 0);
  unpack_load(words1, x + 4);
  if (!is_whole(at1, cols)) load_tail(row, at1, cols, x + 4);
  unpack_load(words2, x + 8);
  if (!is_whole(at2, cols)) load_tail(row, at2, cols, x + 8);
  unpack_load(words3, x + 12);
  if (!is_whole(at3, cols)) load_tail(row, at3, cols, x + 12);
  unpack_load(words4, x + 16);
  if (!is_whole(at4, cols)) load_tail(row, at4, cols, x + 16);
  unpack_load(words5, x + 20);
  if (!is_whole(at5, cols)) load_tail(row, at5, cols, x + 20);
  unpack_load(words6, x + 24);
  if (!is_whole(at6, cols)) load_tail(row, at6, cols, x + 24);
  unpack_load(words7, x + 28);
  if (!is_whole(at7, cols)) load_tail(row, at7, cols, x + 28);
}

// Stores 8 vectors: the results of x.
//= normalize/twice.cu, "DEVICE_FUNCTION void store_chunk(" to "const int at_u = at + 0;"
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[0 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 0, pack_store(y + 0));
//= normalize/twice.cu, "} else {" (2) to "const int at_u = at + 4096;"
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[4 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 4096, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 8192;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[8 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 8192, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 12288;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[12 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 12288, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 16384;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[16 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 16384, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 20480;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[20 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 20480, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 24576;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[24 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 24576, pack_store(y + 0));
//= normalize/twice.cu, "} else {" to "{"
    const int at_u = at + 28672;
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[28 + e], shift, factor);
    if (is_whole(at_u, cols)) {
      STORE_8(to + 28672, pack_store(y + 0));
//= normalize/twice.cu, "} else {" (4) to "}" (4)
  // One value of each of the 32 warps of a team meets in each of them.
  const int lane = THREAD_X % 32;
  if (lane == 0) scratch[THREAD_X / 32] = value;
  BARRIER();  // every warp's value is in scratch
  value = scratch[THREAD_X / 1024 * 32 + lane % 32];
//= normalize/twice.cu, "UNROLL" (7) to "}"
//= normalize/twice.cu, "return value;" to "}" (2)
//= normalize/once.cu, "// One value of each of the 32 warps of a team m" to "const f32 other = SHUFFLE_XOR(value, mask);"
//= normalize/twice.cu, "value = MAX(value, other);" (2) to "}" (2)

KERNEL(1024, 1, 1) normalize_once(
    GLOBAL const element_t* RESTRICT in,  // [rows][cols]
    i64 rows, i64 cols,
    GLOBAL result_t* RESTRICT out) {  // [rows][cols]
  SHARED f32 scratch[32];
  SHARED f32 more[32];

  const i64 drawn = (i64)BLOCK_X * 1 + THREAD_X / 1024;
  const i64 row = MIN(drawn, rows - 1);
  const int length = drawn < rows ? (int)cols : 0;  // threads without a row stay for the barriers
  const int begins = (int)(row * cols % 4);
  const int at = THREAD_X % 1024 * 4 - begins;

  // ---- device memory -> registers
  f32 x[32];
  load_chunk(in + row * cols, at, length, x);

  // ---- registers -> what the row is normalized by
  f32 most = x[0];
  UNROLL
  for (int k = 1; k < 32; ++k) most = MAX(most, x[k]);
  const f32 shift = above(team_max(most, scratch));
  f32 powers = 0.0f;
  UNROLL
  for (int k = 0; k < 32; ++k) {
    const f32 p = power(x[k], shift);
    powers += p;
    x[k] = p;
  }
  powers = team_sum(powers, more);
  const f32 factor = 1.0f / powers;

  // ---- registers -> device memory
  store_chunk(out + row * cols, at, length, begins == 0, x, shift, factor);
}
