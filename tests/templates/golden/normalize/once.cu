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

//= normalize/twice.cu, "typedef bf16_t element_t;" to "x[3] = BF16_TO_F32(words.y >> 16);", 8 is 4, u32x4 is u32x2
}

DEVICE_FUNCTION load_t pack_load(const f32* x) {
  return U32X2(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]));
}

//= normalize/once.cu, "typedef u32x2 load_t;  // elements: 4" to "}", load_t is store_t, unpack_load is unpack_store

DEVICE_FUNCTION store_t pack_store(const f32* x) {
  return U32X2(F32X2_TO_BF16X2(x[0], x[1]), F32X2_TO_BF16X2(x[2], x[3]));
}

//= normalize/twice.cu, "// Places of a row begin at its first whole vect" to "const int at0 = at + 0;", 4 is 8, 8 is 4
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
//= normalize/twice.cu, "unpack_load(words0, x + 0);" to "if (!is_whole(at2, cols)) load_tail(row, at2, co", 16 is 8, 8 is 4
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

//= normalize/twice.cu, "// Stores 4 vectors: the results of x." to "if (is_whole(at_u, cols)) {", 4 is 8, 8 is 4
//= normalize/twice.cu, "STORE_16(to + 0, pack_store(y + 0));" to "const int at_u = at + 2048;", 2048 is 4096, STORE_16 is STORE_8
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[4 + e], shift, factor);
//= normalize/twice.cu, "if (is_whole(at_u, cols)) {" (3) to "const int at_u = at + 6144;", 6144 is 8192, STORE_16 is STORE_8
    f32 y[4];
    UNROLL
    for (int e = 0; e < 4; ++e) y[e] = result_of(x[8 + e], shift, factor);
//= normalize/once.cu, "if (is_whole(at_u, cols)) {" (2) to "UNROLL", 4096 is 8192, 8192 is 12288
//= normalize/once.cu, "for (int e = 0; e < 4; ++e) y[e] = result_of(x[8" to "{", 8 is 12, 8192 is 12288
//= normalize/once.cu, "const int at_u = at + 8192;" to "{", 8 is 16, 8192 is 16384
//= normalize/once.cu, "const int at_u = at + 8192;" to "{", 8 is 20, 8192 is 20480
//= normalize/once.cu, "const int at_u = at + 8192;" to "{", 8 is 24, 8192 is 24576
//= normalize/once.cu, "const int at_u = at + 8192;" to "}" (3), 8 is 28, 8192 is 28672
}

//= normalize/twice.cu, "// All threads of the block call it; `scratch` i" to "UNROLL" (2), 256 is 1024, 8 is 32
//= normalize/twice.cu, "for (int mask = 4; mask > 0; mask /= 2) {" to "BARRIER();  // every warp's value is in scratch", 4 is 16, 8 is 32
//= normalize/once.cu, "value = scratch[THREAD_X / 1024 * 32 + lane % 32" to "const f32 other = SHUFFLE_XOR(value, mask);"
//= normalize/twice.cu, "value = MAX(value, other);" (2) to "}" (2)

KERNEL(1024, 1, 1) normalize_once(
//= normalize/twice.cu, "GLOBAL const element_t* RESTRICT in,  // [rows][" to "SHARED f32 more[8];", 8 is 32

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
