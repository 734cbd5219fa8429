// sm_90a: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
// lookback:block_size=256,load_bytes=16,unroll=4,streaming=false,reset=launch

// scan, variant lookback: one pass over memory. A block scans a tile in registers, posts the tile's sum, looks back for the
// sum of all tiles before, and posts the running sum for others (decoupled look-back: D. Merrill, M. Garland, Single-pass
// Parallel Prefix Scan with Decoupled Look-back, 2016).
//
//   row r:   | tile 0 | tile 1 | ... | tile T-1 |      block r * T + t; a tile is 8 runs of 32 threads x 4 loads
//   posts:   | 2 : s0 | 1 : s1 | ... |                 (workspace) 1: sum of this tile; 2: sum up to and with this tile
//   load u of thread t starts at element  tile * 4096 + t / 32 * 512 + u * 128 + t % 32 * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) out[r][i] = acc = combine(acc, in[r][i])
// Limit: reading twice. Every element is read once and written once.
// Takes for granted: blocks start in the order of their index, so that all tiles before this one are under way or done.

typedef f32 element_t;  // as stored
typedef f32 acc_t;  // running results

// combine(identity(), a) == a; a stands before b
DEVICE_FUNCTION acc_t identity(void) { return 0.0f; }
DEVICE_FUNCTION acc_t combine(acc_t a, acc_t b) { return a + b; }

typedef u32x4 load_t;  // elements: 4

DEVICE_FUNCTION void unpack_load(load_t words, acc_t* x) {
//= arg_reduce/key.cu, "x[0] = BITS_TO_F32(words.x);" to "}"

DEVICE_FUNCTION load_t pack_load(const acc_t* x) {
  return U32X4(F32_TO_BITS(x[0]), F32_TO_BITS(x[1]), F32_TO_BITS(x[2]), F32_TO_BITS(x[3]));
}

// Loads the elements of a row from place `at` on: 4 vectors of 4, 128 elements apart. Places outside of
// 0 .. n - 1 hold the identity. Vectors that lie inside are aligned: `row` and `at` are so chosen.
DEVICE_FUNCTION void load_run(GLOBAL const element_t* RESTRICT row, i64 at, i64 n, acc_t* x) {
  const i64 at0 = at + 0;
  const int whole0 = at0 >= 0 && at0 + 4 <= n;
  load_t words0;
  if (whole0) words0 = LOAD_16(row + at0);
  const i64 at1 = at + 128;
  const int whole1 = at1 >= 0 && at1 + 4 <= n;
  load_t words1;
  if (whole1) words1 = LOAD_16(row + at1);
  const i64 at2 = at + 256;
  const int whole2 = at2 >= 0 && at2 + 4 <= n;
  load_t words2;
  if (whole2) words2 = LOAD_16(row + at2);
  const i64 at3 = at + 384;
  const int whole3 = at3 >= 0 && at3 + 4 <= n;
  load_t words3;
  if (whole3) words3 = LOAD_16(row + at3);
  if (whole0) {
    unpack_load(words0, x + 0);
  } else {
    UNROLL
    for (int e = 0; e < 4; ++e)
      x[0 + e] = at0 + e >= 0 && at0 + e < n ? (acc_t)row[at0 + e] : identity();
  }
  if (whole1) {
    unpack_load(words1, x + 4);
  } else {
    UNROLL
    for (int e = 0; e < 4; ++e)
      x[4 + e] = at1 + e >= 0 && at1 + e < n ? (acc_t)row[at1 + e] : identity();
  }
  if (whole2) {
    unpack_load(words2, x + 8);
  } else {
    UNROLL
    for (int e = 0; e < 4; ++e)
      x[8 + e] = at2 + e >= 0 && at2 + e < n ? (acc_t)row[at2 + e] : identity();
  }
  if (whole3) {
    unpack_load(words3, x + 12);
  } else {
    UNROLL
    for (int e = 0; e < 4; ++e)
      x[12 + e] = at3 + e >= 0 && at3 + e < n ? (acc_t)row[at3 + e] : identity();
  }
}

// Stores what load_run() loaded, each element combined with what stands before its vector.
DEVICE_FUNCTION void store_run(GLOBAL element_t* RESTRICT row, i64 at, i64 n, acc_t* x, acc_t* before) {
  {
    const i64 at_u = at + 0;
    acc_t y[4];
    UNROLL
    for (int e = 0; e < 4; ++e)
      y[e] = combine(before[0], x[0 + e]);
    if (at_u >= 0 && at_u + 4 <= n) {
      STORE_16(row + at_u, pack_load(y));
    } else {
      UNROLL
      for (int e = 0; e < 4; ++e)
        if (at_u + e >= 0 && at_u + e < n) row[at_u + e] = (element_t)y[e];
    }
  }
  {
    const i64 at_u = at + 128;
    acc_t y[4];
    UNROLL
    for (int e = 0; e < 4; ++e)
      y[e] = combine(before[1], x[4 + e]);
//= scan/lookback.cu, "if (at_u >= 0 && at_u + 4 <= n) {" to "{"
    const i64 at_u = at + 256;
    acc_t y[4];
    UNROLL
    for (int e = 0; e < 4; ++e)
      y[e] = combine(before[2], x[8 + e]);
//= scan/lookback.cu, "if (at_u >= 0 && at_u + 4 <= n) {" to "{"
    const i64 at_u = at + 384;
    acc_t y[4];
    UNROLL
    for (int e = 0; e < 4; ++e)
      y[e] = combine(before[3], x[12 + e]);
//= scan/lookback.cu, "if (at_u >= 0 && at_u + 4 <= n) {" to "}" (3)
}

// The scan of one value of each of 32 neighbouring threads, inclusive. All threads of the block call it.
DEVICE_FUNCTION acc_t lanes_scan(acc_t value, SHARED_PTR acc_t* scratch) {
  const int in_warp = THREAD_X % 32;
  UNROLL
  for (int delta = 1; delta < 32; delta *= 2) {
    const acc_t other = SHUFFLE(value, in_warp - delta);
    if (in_warp % 32 >= delta) value = combine(other, value);
  }
  return value;
}

// A value of another thread of the 32: of the one before (the identity for the first), of the last one.
DEVICE_FUNCTION void lanes_ends(acc_t value, SHARED_PTR acc_t* scratch, acc_t* before, acc_t* last) {
  const int lane = THREAD_X % 32;
  const int in_warp = THREAD_X % 32;
  const acc_t other = SHUFFLE(value, in_warp - 1);
  *last = SHUFFLE(value, in_warp - lane + 31);
  *before = lane == 0 ? identity() : other;
}

// Scans each vector of x in place, and sets before[u] to what stands before vector u in the run of the 32 threads.
// Returns the result of the whole run.
DEVICE_FUNCTION acc_t run_scan(acc_t* x, acc_t* before, SHARED_PTR acc_t* scratch) {
  acc_t carry = identity();
  UNROLL
  for (int e = 1; e < 4; ++e) x[0 + e] = combine(x[0 + e - 1], x[0 + e]);
  acc_t inside0, last0;
  lanes_ends(lanes_scan(x[3], scratch), scratch, &inside0, &last0);
  UNROLL
  for (int e = 1; e < 4; ++e) x[4 + e] = combine(x[4 + e - 1], x[4 + e]);
  acc_t inside1, last1;
  lanes_ends(lanes_scan(x[7], scratch), scratch, &inside1, &last1);
  UNROLL
  for (int e = 1; e < 4; ++e) x[8 + e] = combine(x[8 + e - 1], x[8 + e]);
  acc_t inside2, last2;
  lanes_ends(lanes_scan(x[11], scratch), scratch, &inside2, &last2);
  UNROLL
  for (int e = 1; e < 4; ++e) x[12 + e] = combine(x[12 + e - 1], x[12 + e]);
  acc_t inside3, last3;
  lanes_ends(lanes_scan(x[15], scratch), scratch, &inside3, &last3);
  before[0] = combine(carry, inside0);
  carry = combine(carry, last0);
  before[1] = combine(carry, inside1);
  carry = combine(carry, last1);
  before[2] = combine(carry, inside2);
  carry = combine(carry, last2);
  before[3] = combine(carry, inside3);
  carry = combine(carry, last3);
  return carry;
}

// The scan of one value of each of the 8 groups of 32 threads: what stands before this thread's group, and
// the result of all of them in *total.
DEVICE_FUNCTION acc_t groups_scan(acc_t value, SHARED_PTR acc_t* scratch, acc_t* total) {
  const int lane = THREAD_X % 32;
  const int group = THREAD_X / 32;
  if (lane == 0) scratch[group] = value;
  BARRIER();  // every group's result is in scratch
  acc_t all = lane < 8 ? scratch[lane] : identity();
  UNROLL
  for (int delta = 1; delta < 8; delta *= 2) {
    const acc_t other = SHUFFLE(all, lane - delta);
    if (lane >= delta) all = combine(other, all);
  }
  *total = SHUFFLE(all, 7);
  const acc_t before = SHUFFLE(all, group == 0 ? 0 : group - 1);
  return group == 0 ? identity() : before;
}

// Where this thread's first vector of tile `tile` lies in row `row`: a row that begins inside a vector has its first
// elements at negative places of tile 0.
DEVICE_FUNCTION i64 tile_place(i64 row, i64 n, i64 tile) {
  const i64 shift = row * n % 4;
  return tile * 4096 - shift + (THREAD_X / 32) * 512 + THREAD_X % 32 * 4;
}

// A post: its mark (0: not there yet) and its value. A store of 64 bits is visible whole or not at all.
DEVICE_FUNCTION void post(GLOBAL volatile u64* posts, i64 at, u64 mark, acc_t value) {
  posts[at] = mark << 32 | F32_TO_BITS(value);
}

DEVICE_FUNCTION int look(GLOBAL volatile u64* posts, i64 at, acc_t* value) {
  const u64 word = posts[at];
  *value = BITS_TO_F32((u32)word);
  return (int)(word >> 32);
}

// The result of all tiles from `first` to before `at`, for thread 0 of the first warp, all of which calls it.
DEVICE_FUNCTION acc_t look_back(GLOBAL volatile u64* posts, i64 first, i64 at) {
  acc_t sum = identity();
  // Lane l looks at the l-th tile before; nearer tiles stand after farther ones.
  for (i64 near = at - 1;; near -= 32) {
    const i64 mine = near - THREAD_X;
    acc_t value = identity();
    int mark = mine < first ? 2 : look(posts, mine, &value);
    while (BALLOT(mark == 0) != 0) {
      if (mark == 0) mark = look(posts, mine, &value);
    }
    int ends = mark == 2;
    UNROLL
    for (int delta = 1; delta < 32; delta *= 2) {
      const acc_t farther = SHUFFLE_DOWN(value, delta);
      const int farther_ends = SHUFFLE_DOWN(ends, delta);
      if (!ends && THREAD_X + delta < 32) {
        value = combine(farther, value);
        ends = farther_ends;
      }
    }
    sum = combine(SHUFFLE(value, 0), sum);
    if (SHUFFLE(ends, 0)) return sum;
  }
}

KERNEL(256, 1, 1) scan_lookback(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 rows,  // [rows][n]
    GLOBAL volatile u64* posts, GLOBAL element_t* RESTRICT out) {
  SHARED acc_t scratch[32];
  SHARED acc_t earlier[1];

  const i64 tiles = GRID_X / rows;
  const i64 row = BLOCK_X / tiles;
  const i64 tile = BLOCK_X % tiles;
  const i64 at = tile_place(row, n, tile);

  // ---- device memory -> registers, scanned inside the tile
  acc_t x[16], before[4], total;
  load_run(in + row * n, at, n, x);
  const acc_t mine = run_scan(x, before, scratch);
  acc_t base = groups_scan(mine, scratch, &total);

  // ---- posts of earlier tiles -> the result before this one
  if (tiles > 1) {
    if (THREAD_X < 32) {
      acc_t sum = identity();
      if (THREAD_X == 0) post(posts, BLOCK_X, tile == 0 ? (u64)2 : (u64)1, total);
      if (tile > 0) {
        sum = look_back(posts, row * tiles, BLOCK_X);
        if (THREAD_X == 0) post(posts, BLOCK_X, (u64)2, combine(sum, total));
      }
      if (THREAD_X == 0) earlier[0] = sum;
    }
    BARRIER();  // the result before this tile is in shared memory
    base = combine(earlier[0], base);
  }

  // ---- registers -> device memory
  before[0] = combine(base, before[0]);
  before[1] = combine(base, before[1]);
  before[2] = combine(base, before[2]);
  before[3] = combine(base, before[3]);
  store_run(out + row * n, at, n, x, before);
}
