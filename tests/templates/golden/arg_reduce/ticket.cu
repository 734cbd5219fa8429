// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=min
// ticket:block_size=256,load_bytes=16,unroll=4,blocks_per_unit=4,streaming=false,test=load,finish=tree

// arg_reduce, variant ticket: one launch. Persistent blocks share each row; the one that draws the row's last ticket combines
// what all have found.
//
//   row r:           | head | tile 0 | tile 1 | ... | tile S-1 | tile S | ... | tail |      S blocks a row: block r * S + s
//   block:             all      0        1               S-1        0            all
//   tile:            4 lines of 256 threads x 4 elements (16 bytes): a thread has 4 loads in flight
//   values, places:  | r0 s0 | r0 s1 | ... | r1 s0 | ...                (workspace), a ticket counter for each row
//   load u of thread t in a tile starts at element  head + tile * 4096 + u * 1024 + t * 4
//
// Replaces: best = 0; for (i = 1; i < n; ++i) if (in[r][i] is better than in[r][best]) best = i;
// Limit: bytes in flight, and the second launch. Rows may begin anywhere: the elements before the first whole vector
// are taken one by one.

//= arg_reduce/rows.cu, "typedef f32 element_t;  // as stored" to "}" (9)

// The best of the elements that fall to this thread, of block `part` of the `parts` that share a row of n elements, of which
// the first `head` (fewer than 4) come before a whole vector.
DEVICE_FUNCTION best_t thread_scan(GLOBAL const element_t* RESTRICT row, i64 n, int head, int part, int parts) {
  best_t best = nothing();

  // ---- whole tiles: device memory -> registers; loads of 16 bytes in flight: 4
  const i64 tiles = (n - head) / 4096;
  NO_UNROLL
  for (i64 tile = part; tile < tiles; tile += parts) {
    const i64 i = head + tile * 4096 + THREAD_X * 4;
    const load_t a0 = LOAD_16(row + i);
    const load_t a1 = LOAD_16(row + i + 1024);
    const load_t a2 = LOAD_16(row + i + 2048);
    const load_t a3 = LOAD_16(row + i + 3072);
    if (!is_beaten(best.value, a0)) best = adopt(best, a0, i);
    if (!is_beaten(best.value, a1)) best = adopt(best, a1, i + 1024);
    if (!is_beaten(best.value, a2)) best = adopt(best, a2, i + 2048);
    if (!is_beaten(best.value, a3)) best = adopt(best, a3, i + 3072);
  }

  // ---- the elements before the first vector and after the last tile, one by one, dealt over all parts
  const i64 rest = n - tiles * 4096;
  NO_UNROLL
  for (i64 r = (i64)part * 256 + THREAD_X; r < rest; r += (i64)parts * 256) {
    best = combine(best, element_at(row, r < head ? r : r + tiles * 4096));
  }
//= arg_reduce/rows.cu, "return best;" (5) to "}" (2)

// Combines one element of each of the 256 threads of a team; its first thread gets the result. All threads of the block call it.
DEVICE_FUNCTION best_t team_combine(best_t best, SHARED_PTR value_t* values, SHARED_PTR i64* places) {
  best_t other;
  const int lane = THREAD_X % 256;
  values[THREAD_X] = best.value;
  places[THREAD_X] = best.at;
  BARRIER();  // every thread's element is in shared memory
  for (int reach = 128; reach > 0; reach /= 2) {
//= arg_reduce/rows.cu, "if (lane < reach) {" to "}" (3)

KERNEL(256, 1, 1) arg_reduce_ticket(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL volatile value_t* values, GLOBAL volatile i64* places, GLOBAL u32* tickets,
    GLOBAL i64* index, GLOBAL element_t* value) {
  SHARED value_t scratch_values[256];
  SHARED i64 scratch_places[256];
  SHARED u32 drawn[1];

  const int share = (int)(GRID_X / results);  // blocks a row
  const i64 row = BLOCK_X / share;
  best_t best = thread_scan(in + row * n, n, head_of(row * n, n), BLOCK_X % share, share);
  best = team_combine(best, scratch_values, scratch_places);

  // ---- registers -> workspace, then a ticket of the row; a block on its own is done and draws none
  if (THREAD_X == 0) {
    if (share == 1) {
      index[row] = best.at;
      value[row] = best.value;
      drawn[0] = (u32)share;
    } else {
      values[BLOCK_X] = best.value;
      places[BLOCK_X] = best.at;
      GLOBAL_FENCE();  // what was found is seen before the ticket is
      drawn[0] = ATOMIC_ADD_U32(tickets + row, 1u);
    }
  }
  BARRIER();  // every thread knows the ticket; the scratch is free again

  // ---- the last block of the row: workspace -> index, value. Volatile reads, so that no stale copy in a cache is taken
  if (drawn[0] == (u32)share - 1u) {
    GLOBAL_FENCE();
    best = nothing();
    for (int p = THREAD_X; p < share; p += 256) {
      best_t found;
      found.value = values[row * share + p];
      found.at = places[row * share + p];
      best = combine(best, found);
    }
    best = team_combine(best, scratch_values, scratch_places);
    if (THREAD_X == 0) {
      index[row] = best.at;
      value[row] = best.value;
      tickets[row] = 0;  // for the next run: nobody else looks at it any more
    }
  }
}
