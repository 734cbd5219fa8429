// sm_90a: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
// two_pass:block_size=256,load_bytes=16,unroll=4,streaming=false

// scan, variant two_pass: three launches. The first leaves the sum of each tile, the second scans these sums, the third
// scans the tiles and adds what stands before.
//
//   row r:   | tile 0 | tile 1 | ... | tile T-1 |      block r * T + t; a tile is 8 runs of 32 threads x 4 loads
//   sums:    | s0 | s1 | ... |                         (workspace), then what stands before each tile
//   load u of thread t starts at element  tile * 4096 + t / 32 * 512 + u * 128 + t % 32 * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) out[r][i] = acc = combine(acc, in[r][i])
// Limit: the chain of one running result. Every element is read twice. The same bits on every run.

//= scan/lookback.cu, "typedef f32 element_t;  // as stored" to "}" (31)

KERNEL(256, 1, 1) scan_sums(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 rows,  // [rows][n]
    GLOBAL acc_t* RESTRICT sums) {                         // [rows][tiles]
  SHARED acc_t scratch[32];

  const i64 tiles = GRID_X / rows;
  const i64 row = BLOCK_X / tiles;
  acc_t x[16], before[4], total;
  load_run(in + row * n, tile_place(row, n, BLOCK_X % tiles), n, x);
  groups_scan(run_scan(x, before, scratch), scratch, &total);
  if (THREAD_X == 0) sums[BLOCK_X] = total;
}

// Second pass, one block a row: the sums of tiles become what stands before each tile.
KERNEL(256, 1, 1) scan_of_sums(i64 n, GLOBAL acc_t* sums) {
  SHARED acc_t scratch[32];

  const i64 tiles = (n + 4095 + (n % 4 != 0 ? 3 : 0)) / 4096;
  acc_t carry = identity();
  for (i64 first = 0; first < tiles; first += 256) {
    const i64 at = BLOCK_X * tiles + first + THREAD_X;
    const int is_there = first + THREAD_X < tiles;
    const acc_t own = is_there ? sums[at] : identity();
    acc_t before, last, total;
    const acc_t inside = lanes_scan(own, scratch);
    lanes_ends(inside, scratch, &before, &last);
    const acc_t base = groups_scan(last, scratch, &total);
    if (is_there) sums[at] = combine(carry, combine(base, before));
    carry = combine(carry, total);
    BARRIER();  // scratch is free again
  }
}

KERNEL(256, 1, 1) scan_tiles(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 rows,  // [rows][n]
    GLOBAL const acc_t* RESTRICT sums,                     // [rows][tiles]
    GLOBAL element_t* RESTRICT out) {                      // [rows][n]
//= scan/two_pass.cu, "SHARED acc_t scratch[32];" to "const i64 row = BLOCK_X / tiles;"
  const i64 at = tile_place(row, n, BLOCK_X % tiles);
  acc_t x[16], before[4], total;
  load_run(in + row * n, at, n, x);
  const acc_t base = combine(sums[BLOCK_X], groups_scan(run_scan(x, before, scratch), scratch, &total));
//= scan/lookback.cu, "before[0] = combine(base, before[0]);" to "}"
