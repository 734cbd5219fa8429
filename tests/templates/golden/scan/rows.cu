// sm_90a: n=1000 rows=1000 dtype=f32 op=sum exclusive=false deterministic=no
// rows:block_size=256,lanes=8,load_bytes=16,unroll=1,streaming=false

// scan, variant rows: 8 threads walk along each row, 32 elements a round; 32 rows a block.
//
//   row r:   | round 0 | round 1 | ... |      load u of lane l in a round starts at its element  u * 32 + l * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) out[r][i] = acc = combine(acc, in[r][i])
// Limit: threads without work where rows are shorter than a block's tile. A carry goes from round to round.

//= scan/lookback.cu, "typedef f32 element_t;  // as stored" to "}" (2)

// Loads the elements of a row from place `at` on: 1 vectors of 4, 32 elements apart. Places outside of
//= scan/lookback.cu, "// 0 .. n - 1 hold the identity. Vectors that li" to "if (whole0) words0 = LOAD_16(row + at0);"
//= scan/lookback.cu, "if (whole0) {" to "}" (2)
}

//= scan/lookback.cu, "// Stores what load_run() loaded, each element c" to "}" (3)
}

// The scan of one value of each of 8 neighbouring threads, inclusive. All threads of the block call it.
DEVICE_FUNCTION acc_t lanes_scan(acc_t value, SHARED_PTR acc_t* scratch) {
  const int in_warp = THREAD_X % 32;
  UNROLL
  for (int delta = 1; delta < 8; delta *= 2) {
    const acc_t other = SHUFFLE(value, in_warp - delta);
    if (in_warp % 8 >= delta) value = combine(other, value);
  }
  return value;
}

// A value of another thread of the 8: of the one before (the identity for the first), of the last one.
DEVICE_FUNCTION void lanes_ends(acc_t value, SHARED_PTR acc_t* scratch, acc_t* before, acc_t* last) {
  const int lane = THREAD_X % 8;
  const int in_warp = THREAD_X % 32;
  const acc_t other = SHUFFLE(value, in_warp - 1);
  *last = SHUFFLE(value, in_warp - lane + 7);
  *before = lane == 0 ? identity() : other;
}

// Scans each vector of x in place, and sets before[u] to what stands before vector u in the run of the 8 threads.
//= scan/lookback.cu, "// Returns the result of the whole run." to "lanes_ends(lanes_scan(x[3], scratch), scratch, &"
  before[0] = combine(carry, inside0);
  carry = combine(carry, last0);
  return carry;
}

KERNEL(256, 1, 1) scan_rows(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 rows,  // [rows][n]
    GLOBAL element_t* RESTRICT out) {                      // [rows][n]
  SHARED acc_t scratch[256];

  const i64 drawn = (i64)BLOCK_X * 32 + THREAD_X / 8;
  const i64 row = MIN(drawn, rows - 1);
  const i64 length = drawn < rows ? n : (i64)0;  // threads without a row go through the rounds, too
  const i64 shift = row * n % 4;
  acc_t carry = identity();
  NO_UNROLL
  for (i64 first = 0; first < n + 3; first += 32) {
    const i64 at = first - shift + THREAD_X % 8 * 4;
    acc_t x[4], before[1];
    load_run(in + row * n, at, length, x);
    const acc_t next = combine(carry, run_scan(x, before, scratch));
    before[0] = combine(carry, before[0]);
    store_run(out + row * n, at, length, x, before);
    carry = next;
  }
}
